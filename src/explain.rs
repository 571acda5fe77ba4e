//! What the library makes of each datatype, in words, where `TEMPI_EXPLAIN` says.
//!
//! Uses `ir` and `pack` for what is said, `mpi` and `cuda` for where: the rank, the size of the device. The invariant: it
//! decides nothing. Kernels are those that the planner gives for one element at addresses of the best alignment.
#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use once_cell::sync::OnceCell;

use crate::config::{self, ExplainTo};
use crate::cuda::{self, lane::LONGEST_LIST};
use crate::ir::{self, Blocks, Bounds, Describe, Layout, LeafRef, Parts, Runs, Strided};
use crate::mpi::comm;
use crate::pack::host::{self, System, worthwhile};
use crate::pack::kernel::{BATCH, BlocksArgs, Direction, KERNELS};
use crate::pack::list::List;
use crate::pack::plan::{Launch, Limits};
use crate::pack::table::{Image, OnDevice};
use crate::pack::{blocks, plan};
use crate::reason::Reason;

/// Multiprocessors of the device that a grid is told for where there is none.
const ASSUMED: u32 = 132;

/// What is not the type's but decides how it is served.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Multiprocessors of the device, if there is one.
    pub multiprocessors: Option<u32>,
    /// The MPI whose own packing in host memory ours is measured against.
    pub system: System,
}

/// Says what became of `datatype`, which was analysed: a layout, or why there is none.
#[cold]
pub fn datatype<D: Describe>(describe: &D, datatype: D::Type, layout: Result<&Layout, String>) {
    static TYPES: AtomicU64 = AtomicU64::new(0);
    let setting = Setting { multiprocessors: cuda::context::multiprocessors(0), system: host::system() };
    let rank = comm::rank();
    let number = TYPES.fetch_add(1, Relaxed) + 1;
    let text = text(describe, datatype, layout, setting);
    write(rank, &format!("tempi explain, rank {rank}, type {number}\n{text}"));
}

/// One write a type keeps the paragraphs of ranks and threads whole.
fn write(rank: i32, text: &str) {
    static FILE: OnceCell<File> = OnceCell::new();
    let written = match &config::get().explain {
        ExplainTo::Nowhere => Ok(()),
        // A closed stderr is no reason to fail.
        ExplainTo::Text => io::stderr().write_all(text.as_bytes()).or(Ok(())),
        ExplainTo::File(path) => FILE
            .get_or_try_init(|| File::create(path.replace("%r", &rank.to_string())))
            .and_then(|mut file| file.write_all(text.as_bytes())),
    };
    if let Err(error) = written {
        tracing::warn!(%error, "a datatype could not be explained");
    }
}

/// The paragraph, without its head.
pub fn text<D: Describe>(
    describe: &D,
    datatype: D::Type,
    layout: Result<&Layout, String>,
    setting: Setting,
) -> String {
    let mut rows = Rows { text: String::new(), setting };
    let outline = ir::outline(describe, datatype);
    for (index, line) in outline.iter().enumerate() {
        rows.add(if index == 0 { "constructed" } else { "" }, line);
    }
    let bounds = describe.bounds(datatype).ok();
    if let Some(Bounds { lb, extent }) = bounds {
        rows.add("extent", &format!("{extent} bytes from {lb}"));
    }
    match layout {
        Err(reason) => rows.add("forwarded", &reason),
        Ok(layout) if layout.is_empty() => rows.add("forwarded", Reason::Empty.text()),
        Ok(layout) => {
            rows.layout(layout);
            if layout.is_contiguous() {
                let apart = bounds.is_some_and(|bounds| bounds.extent != layout.size());
                let more = if apart { "; several elements are a vector" } else { "" };
                rows.add("forwarded", &format!("{}{more}", Reason::Contiguous));
            }
            rows.add("plan", &format!("{} bytes on the host", layout.held()));
        }
    }
    rows.text
}

/// Lines of a label and a text.
struct Rows {
    text: String,
    setting: Setting,
}

impl Rows {
    fn add(&mut self, label: &str, text: &str) {
        let _ = writeln!(self.text, "  {label:<12} {text}");
    }

    fn layout(&mut self, layout: &Layout) {
        if layout.is_contiguous() {
            let (bytes, first) = (layout.size(), layout.first());
            return self.add("canonical", &format!("contiguous, {bytes} bytes from {first}"));
        }
        match layout {
            Layout::Parts(parts) => self.parts(parts),
            Layout::Strided(strided) => self.leaf("canonical", LeafRef::Strided(strided), None),
            Layout::Blocks(blocks) => self.leaf("canonical", LeafRef::Blocks(blocks), None),
        }
        let host = if worthwhile(layout, self.setting.system) {
            "MPI_Pack and MPI_Unpack use it".to_owned()
        } else {
            format!("not used: {}", Reason::HostSystemFaster)
        };
        self.add("", &host);
    }

    /// What one launch moves, unless a part takes several.
    fn parts(&mut self, parts: &Parts) {
        let mut list = List::new(LONGEST_LIST);
        self.add("canonical", &format!("{} bytes in {} parts", parts.size, parts.parts.len()));
        for (index, part) in parts.parts.iter().enumerate() {
            self.add(&format!("part {}", index + 1), &format!("packed from {}", part.packed));
            self.leaf("", part.layout.as_ref(), Some(&mut list));
        }
        if !list.is_empty() {
            let shape = list.finish(Direction::Pack, self.setting.limits());
            self.add("kernel", &format!("{}, for {} items", name(BATCH), shape.items));
            self.grid(shape.grid, shape.block, 1);
        }
    }

    /// Launches go to the `list`, if there is one.
    fn leaf(&mut self, label: &str, leaf: LeafRef<'_>, list: Option<&mut List>) {
        match leaf {
            LeafRef::Strided(strided) => self.strided(label, strided, list),
            LeafRef::Blocks(blocks) => self.blocks(label, blocks, list),
        }
    }

    fn strided(&mut self, label: &str, strided: &Strided, list: Option<&mut List>) {
        let Strided { offset, block, size, .. } = strided;
        self.add(label, &format!("strided, {size} bytes in blocks of {block} from {offset}"));
        self.dims(strided.dims.iter());
        let mut launches = plan::launches(strided, 0, 0, Direction::Pack, None, self.setting.limits());
        let count = launches.remaining();
        if let Some(Launch { kernel, grid, block, args }) = launches.next() {
            self.kernel(&Launch { kernel, grid, block, args: BlocksArgs::from(args) }, count, list);
        }
        self.add("table", "none");
        self.add("host loop", &host::in_words(&strided.dims, *block));
    }

    fn blocks(&mut self, label: &str, blocks: &Blocks, list: Option<&mut List>) {
        let Blocks { offset, block, size, .. } = blocks;
        let runs = blocks.table.len();
        let (kind, entry, unit) = match blocks.table.runs() {
            Runs::Narrow { shift, .. } => (format!("runs of {block}"), 4, 1_u64 << shift),
            Runs::Wide(_) => (format!("runs of {block}"), 8, 1),
            Runs::Mixed(_) => ("runs of different length".to_owned(), 16, 1),
        };
        self.add(label, &format!("table, {size} bytes in {kind} from {offset}"));
        self.add("", &format!("{runs} runs, entries of {entry} bytes in units of {unit}"));
        self.dims(blocks.dims.iter());
        let Image { bytes, count, entries, run } = Image::new(&blocks.table);
        let table = OnDevice { address: 0, count, entries, run };
        let mut launches = blocks::launches(blocks, table, 0, 0, Direction::Pack, self.setting.limits());
        let number = launches.remaining();
        if let Some(launch) = launches.next() {
            self.kernel(&launch, number, list);
        }
        self.add("table", &format!("{} bytes on the device", bytes.len()));
        let (within, length) =
            if blocks.is_mixed() { (Vec::new(), None) } else { (blocks.entry().dims, Some(*block)) };
        let each = length.map_or("copies of each run's length".to_owned(), |n| host::in_words(&within, n));
        self.add("host loop", &format!("{each}, at each entry of the table"));
    }

    fn dims<'a>(&mut self, dims: impl Iterator<Item = &'a ir::Dim>) {
        for ir::Dim { count, stride, packed } in dims {
            self.add("", &format!("{count} times, memory stride {stride}, packed stride {packed}"));
        }
    }

    fn kernel(&mut self, first: &Launch<BlocksArgs>, launches: u64, list: Option<&mut List>) {
        let name = name(first.kernel);
        let word = name.split('_').find_map(|part| part.strip_prefix('w'));
        let word =
            word.map_or("words as wide as each run allows".to_owned(), |n| format!("words of {n} bytes"));
        if let (Some(list), 1) = (list, launches) {
            list.push(first);
            return self.add("item", &format!("as for {name}, {word}"));
        }
        self.add("kernel", &format!("{name}, {word}"));
        self.grid(first.grid, first.block, launches);
    }

    fn grid(&mut self, grid: u32, block: u32, launches: u64) {
        let times = if launches == 1 { String::new() } else { format!("{launches} launches, the first ") };
        let device = match self.setting.multiprocessors {
            Some(n) => format!("{n} multiprocessors"),
            None => format!("{ASSUMED} multiprocessors, assumed"),
        };
        self.add("", &format!("{times}grid {grid}, block {block}, on {device}"));
    }
}

fn name(kernel: usize) -> &'static str {
    KERNELS.get(kernel).and_then(|name| name.to_str().ok()).unwrap_or_default()
}

impl Setting {
    fn limits(self) -> Limits {
        Limits::of_device(self.multiprocessors.unwrap_or(ASSUMED))
    }
}
