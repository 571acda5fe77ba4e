//! Many layouts in one launch, on the simulated driver: every byte against the definition of a layout, the number of launches, and
//! that nothing is copied to the device twice.
//!
//! One test at a time: what is counted belongs to the process.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's helpers may fail")]

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::process::Command;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use layouts::{Random, blocks as places, runs};
use tempi::cuda::{Entered, Lane, Memory, enter, place};
use tempi::ir::{Blocks, Dim, Layout, Leaf, LeafRef, Part, Parts, Strided, Table};
use tempi::pack::batch::{self, Item};
use tempi::pack::exec::{self, LIBRARY};
use tempi::pack::kernel::Direction::{self, Pack, Unpack};
use tempi::pack::table;
use tempi::pool;

#[path = "common/layouts.rs"]
mod layouts;

struct Driver {
    handle: usize,
}

macro_rules! driver_calls {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        #[allow(non_snake_case)]
        impl Driver {$(
            fn $name(&self, $($arg: $type),*) -> $result {
                let name = CString::new(stringify!($name)).unwrap();
                // SAFETY: the handle is dlopen's.
                let symbol = unsafe { libc::dlsym(self.handle as *mut c_void, name.as_ptr()) };
                assert!(!symbol.is_null(), "{name:?}");
                // SAFETY: cuda.h, or tests/simcuda, declares the function so.
                let function = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> $result>(symbol) };
                // SAFETY: the tests pass valid arguments.
                unsafe { function($($arg),*) }
            }
        )*}
    };
}

driver_calls! {
    cuInit(flags: c_uint) -> c_int;
    cuCtxCreate_v2(context: *mut usize, flags: c_uint, device: c_int) -> c_int;
    cuCtxSetCurrent(context: usize) -> c_int;
    cuCtxSynchronize() -> c_int;
    cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int;
    cuMemFree_v2(address: u64) -> c_int;
    cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> c_int;
    cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> c_int;
    simcuda_arm(rules: *const c_char) -> c_int;
    simcuda_calls(name: *const c_char) -> std::ffi::c_ulong;
}

/// The driver with a context, which stays.
static DRIVER: LazyLock<(Driver, usize)> = LazyLock::new(|| {
    let built = Command::new("scripts/simcuda").arg("target/simcuda").status();
    assert!(built.expect("scripts/simcuda").success(), "scripts/simcuda failed");
    // SAFETY: loads the driver, as an application would.
    let handle =
        unsafe { libc::dlopen(c"target/simcuda/libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    assert!(!handle.is_null());
    let driver = Driver { handle: handle as usize };
    assert_eq!(driver.cuInit(0), 0);
    let mut context = 0;
    assert_eq!(driver.cuCtxCreate_v2(&raw mut context, 0, 0), 0);
    (driver, context)
});

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The driver, for one test, its context current.
fn alone() -> (MutexGuard<'static, ()>, &'static Driver) {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (driver, context) = &*DRIVER;
    assert_eq!(driver.cuCtxSetCurrent(*context), 0);
    (guard, driver)
}

impl Driver {
    fn arm(&self, rules: &str) {
        let rules = CString::new(rules).unwrap();
        assert_eq!(self.simcuda_arm(rules.as_ptr()), 0, "{rules:?}");
    }

    /// Calls until now: launches, copies that a stream orders, waits for a stream.
    fn calls(&self) -> [u64; 3] {
        [c"cuLaunchKernel", c"cuMemcpyAsync", c"cuStreamSynchronize"]
            .map(|name| self.simcuda_calls(name.as_ptr()))
    }

    /// What `work` adds to [`Driver::calls`].
    fn counted<T>(&self, work: impl FnOnce() -> T) -> (T, [u64; 3]) {
        let before = self.calls();
        let result = work();
        let after = self.calls();
        (result, [0, 1, 2].map(|i| after[i] - before[i]))
    }
}

/// Device memory and the bytes that it should hold.
struct Mirror {
    address: u64,
    bytes: Vec<u8>,
}

impl Mirror {
    fn new(driver: &Driver, bytes: usize, random: &mut Random) -> Self {
        let mut address = 0;
        assert_eq!(driver.cuMemAlloc_v2(&raw mut address, bytes), 0);
        let mut this = Self { address, bytes: vec![0; bytes] };
        this.stir(driver, random);
        this
    }

    /// Other bytes.
    fn stir(&mut self, driver: &Driver, random: &mut Random) {
        self.bytes.fill_with(|| u8::try_from(random.next() >> 56).unwrap());
        assert_eq!(driver.cuMemcpyHtoD_v2(self.address, self.bytes.as_ptr().cast(), self.bytes.len()), 0);
    }

    fn check(&self, driver: &Driver, what: &str) {
        let mut found = vec![0; self.bytes.len()];
        assert_eq!(driver.cuMemcpyDtoH_v2(found.as_mut_ptr().cast(), self.address, found.len()), 0);
        if let Some(at) = (0..found.len()).find(|&i| found[i] != self.bytes[i]) {
            panic!("{what}: byte {at} is {} and should be {}", found[at], self.bytes[at]);
        }
    }

    fn free(self, driver: &Driver) {
        assert_eq!(driver.cuCtxSynchronize(), 0);
        assert_eq!(driver.cuMemFree_v2(self.address), 0);
    }
}

/// Where every run lies (in memory, in the packed form, bytes).
fn all_runs(layout: &Layout) -> Vec<(i64, i64, i64)> {
    let one = |(at, leaf): (i64, LeafRef<'_>)| match leaf {
        LeafRef::Strided(one) if one.size == 0 => vec![],
        LeafRef::Strided(one) => places(one).into_iter().map(|(m, p)| (m, at + p, one.block)).collect(),
        LeafRef::Blocks(one) => runs(one).into_iter().map(|(m, p, n)| (m, at + p, n)).collect(),
    };
    layout.leaves().flat_map(one).collect()
}

/// An object in two mirrors: places from their beginnings.
struct Object {
    layout: Layout,
    memory: i64,
    packed: i64,
}

/// Objects in memory and packed, apart from each other.
struct Scene {
    objects: Vec<Object>,
    memory: Mirror,
    packed: Mirror,
}

impl Scene {
    fn new(driver: &Driver, layouts: Vec<Layout>, random: &mut Random) -> Self {
        let (mut memory, mut packed) = (16, 16);
        let mut objects = Vec::new();
        for layout in layouts {
            let (low, high) = layout.span().unwrap();
            let aligned = random.next().is_multiple_of(2);
            let skew = |random: &mut Random| if aligned { 0 } else { random.between(0, 15) };
            let at = memory + (16 - low).rem_euclid(16) + skew(random);
            let object = Object { memory: at - low, packed: packed + skew(random), layout };
            memory = (at + high - low + 31) & !15;
            packed = (object.packed + object.layout.size() + 31) & !15;
            objects.push(object);
        }
        Self {
            objects,
            memory: Mirror::new(driver, usize::try_from(memory).unwrap(), random),
            packed: Mirror::new(driver, usize::try_from(packed).unwrap(), random),
        }
    }

    fn items(&self) -> Vec<Item<'_>> {
        let mut items = Vec::new();
        for Object { layout, memory, packed } in &self.objects {
            let memory = self.memory.address.wrapping_add_signed(*memory);
            let packed = self.packed.address.wrapping_add_signed(*packed);
            items.push(Item { layout, memory, packed });
        }
        items
    }

    /// Moves everything, waits, and compares both mirrors. Returns the launches and the calls of the driver.
    fn run(
        &mut self,
        driver: &Driver,
        lane: &mut Lane<'_>,
        entered: &Entered,
        direction: Direction,
    ) -> (u32, [u64; 3]) {
        let (launches, calls) = driver.counted(|| {
            // SAFETY: both mirrors hold what the layouts name, and the lane is waited for.
            let launches = unsafe { batch::launch(entered, lane, &self.items(), direction, true) }.unwrap();
            lane.wait().unwrap();
            launches
        });
        for object in &self.objects {
            for (m, p, n) in all_runs(&object.layout) {
                let [m, p, n] =
                    [object.memory + m, object.packed + p, n].map(|x| usize::try_from(x).unwrap());
                match direction {
                    Pack => self.packed.bytes[p..p + n].copy_from_slice(&self.memory.bytes[m..m + n]),
                    Unpack => self.memory.bytes[m..m + n].copy_from_slice(&self.packed.bytes[p..p + n]),
                }
            }
        }
        self.memory.check(driver, "memory");
        self.packed.check(driver, "packed");
        (launches, calls)
    }

    /// Other bytes in the packed buffer.
    fn stir(&mut self, driver: &Driver, random: &mut Random) {
        self.packed.stir(driver, random);
    }

    fn free(self, driver: &Driver) {
        self.memory.free(driver);
        self.packed.free(driver);
    }
}

fn entered(scene: &Scene) -> Entered {
    enter(&place(usize::try_from(scene.memory.address).unwrap()), &LIBRARY).unwrap()
}

fn overlaps(layout: &Layout) -> bool {
    let mut runs = all_runs(layout);
    runs.sort_unstable();
    runs.windows(2).any(|w| w[1].0 - w[0].0 < w[0].2)
}

impl Random {
    fn strided(&mut self) -> Strided {
        let ndims = usize::try_from(self.between(0, 4)).unwrap();
        let word = 1 << self.between(0, 4);
        self.layout(ndims, word, 5, false)
    }

    /// A layout of any kind that names no byte twice.
    fn any(&mut self) -> Layout {
        loop {
            let word = 1 << self.between(0, 4);
            let layout = match self.next() % 10 {
                0 => Layout::EMPTY,
                1 => Layout::Strided(Strided { offset: 3, block: 1, dims: vec![], size: 1 }),
                2 => Layout::Blocks(self.blocks(word, false)),
                3 => Layout::Blocks(self.blocks(word, true)),
                4 => self.parts(),
                _ => Layout::Strided(self.strided()),
            };
            if !overlaps(&layout) {
                return layout;
            }
        }
    }

    /// A few layouts, one behind the other in memory and in the packed form.
    fn parts(&mut self) -> Layout {
        let (mut parts, mut size, mut end) = (vec![], 0, 0);
        for _ in 0..self.between(2, 6) {
            let leaf = match self.next() % 3 {
                0 => Leaf::Blocks(self.blocks(4, self.0.is_multiple_of(2))),
                _ => Leaf::Strided(self.strided()),
            };
            let (low, high) = Layout::from(leaf.clone()).span().unwrap();
            let by = end - low;
            let bytes = leaf.size();
            let layout = match leaf {
                Leaf::Strided(one) => Leaf::Strided(Strided { offset: one.offset + by, ..one }),
                Leaf::Blocks(one) => Leaf::Blocks(Blocks { offset: one.offset + by, ..one }),
            };
            parts.push(Part { packed: size, layout });
            size += bytes;
            end += high - low + self.between(0, 9);
        }
        Layout::Parts(Parts { parts, size })
    }
}

/// The 26 faces, edges and corners of a cube of `n`³ doubles with a halo of `r`, which is what is sent.
fn faces(n: i64, r: i64) -> Vec<Layout> {
    let (row, plane) = ((n + 2 * r) * 8, (n + 2 * r) * (n + 2 * r) * 8);
    let mut all = Vec::new();
    for place in (0..27).filter(|&place| place != 13) {
        let axis = |side: i64| match side {
            0 => (r, r),
            1 => (r, n),
            _ => (n, r),
        };
        let [columns, rows, planes] = [place % 3, place / 3 % 3, place / 9].map(axis);
        let block = columns.1 * 8;
        let dims = vec![
            Dim { count: rows.1, stride: row, packed: block },
            Dim { count: planes.1, stride: plane, packed: block * rows.1 },
        ];
        let (offset, size) = (columns.0 * 8 + rows.0 * row + planes.0 * plane, block * rows.1 * planes.1);
        all.push(Layout::Strided(Strided { offset, block, dims, size }));
    }
    all
}

#[test]
fn random_batches() {
    let (_guard, driver) = alone();
    let mut random = Random(0x0ba7_c4ed_0000_0001);
    for round in 0..21 {
        let most = [3, 20, 300][round % 3];
        let n = random.between(1, most);
        let layouts = (0..n).map(|_| random.any()).collect::<Vec<_>>();
        let leaves =
            layouts.iter().flat_map(|l| l.leaves().collect::<Vec<_>>()).filter(|(_, l)| l.size() > 0).count();
        let mut scene = Scene::new(driver, layouts, &mut random);
        let entered = entered(&scene);
        let mut lane = entered.lane().unwrap();
        for direction in [Pack, Unpack] {
            let (launches, calls) = scene.run(driver, &mut lane, &entered, direction);
            assert_eq!(launches, u32::from(leaves > 0), "{leaves} leaves");
            assert_eq!(calls[0], u64::from(launches));
            scene.stir(driver, &mut random);
        }
        // Nothing is copied when the same is done again, and nobody waits for the stream: the flag is told at the end.
        for direction in [Pack, Unpack] {
            let (launches, calls) = scene.run(driver, &mut lane, &entered, direction);
            assert_eq!(calls, [u64::from(launches), 0, 0], "{leaves} leaves");
            scene.stir(driver, &mut random);
        }
        drop(lane);
        drop(entered);
        scene.free(driver);
    }
    pool::drain();
}

#[test]
fn the_faces_of_a_cube_are_one_launch_and_no_copy() {
    let (_guard, driver) = alone();
    let mut random = Random(0x0ba7_c4ed_0000_0002);
    for (n, r) in [(4, 1), (8, 2), (9, 3)] {
        let mut scene = Scene::new(driver, faces(n, r), &mut random);
        let entered = entered(&scene);
        let mut lane = entered.lane().unwrap();
        for direction in [Pack, Unpack, Pack] {
            assert_eq!(scene.run(driver, &mut lane, &entered, direction), (1, [1, 0, 0]));
            scene.stir(driver, &mut random);
        }
        drop(lane);
        drop(entered);
        scene.free(driver);
    }
}

#[test]
fn lists_take_turns_on_a_lane() {
    let (_guard, driver) = alone();
    let mut random = Random(0x0ba7_c4ed_0000_0003);
    let many = |random: &mut Random| (0..100).map(|_| Layout::Strided(random.strided())).collect();
    let mut scenes = (0..6).map(|_| Scene::new(driver, many(&mut random), &mut random)).collect::<Vec<_>>();
    let entered = entered(&scenes[0]);
    let mut lane = entered.lane().unwrap();
    let mut copies = vec![];
    for turn in [0, 1, 2, 3, 0, 1, 2, 3, 4, 3, 0, 5, 5] {
        copies.push(scenes[turn].run(driver, &mut lane, &entered, Pack).1[1]);
        scenes[turn].stir(driver, &mut random);
    }
    assert_eq!(copies, [1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0]);
    // Without a wait between: a list that is still being copied is not written over.
    for scene in &scenes {
        // SAFETY: the mirrors hold what the layouts name, and the lane is waited for.
        unsafe { batch::launch(&entered, &mut lane, &scene.items(), Pack, true) }.unwrap();
    }
    lane.wait().unwrap();
    for mut scene in scenes {
        scene.run(driver, &mut lane, &entered, Pack);
        scene.free(driver);
    }
}

#[test]
fn more_than_the_longest_list() {
    let (_guard, driver) = alone();
    let mut random = Random(0x0ba7_c4ed_0000_0004);
    let layouts = (0..1500).map(|_| Layout::Strided(random.layout(1, 8, 3, false))).collect();
    let mut scene = Scene::new(driver, layouts, &mut random);
    let entered = entered(&scene);
    let mut lane = entered.lane().unwrap();
    for direction in [Pack, Unpack] {
        let (launches, calls) = scene.run(driver, &mut lane, &entered, direction);
        assert!((2..=4).contains(&launches), "{launches}");
        assert_eq!(calls[0], u64::from(launches));
        scene.stir(driver, &mut random);
    }
    drop(lane);
    drop(entered);
    scene.free(driver);
}

/// A table within so many dimensions that one launch does not hold them: four launches, or eight in words of less than 4 bytes.
fn deep() -> Blocks {
    let mut dims = vec![];
    let (mut stride, mut packed) = (64, 3 * 4);
    for _ in 0..9 {
        dims.push(Dim { count: 2, stride, packed });
        (stride, packed) = (2 * stride, 2 * packed);
    }
    Blocks { offset: 0, table: Table::equal(vec![0, 24, 8]).into(), block: 4, packed: 4, dims, size: packed }
}

#[test]
fn what_no_list_holds_goes_first() {
    let (_guard, driver) = alone();
    let mut random = Random(0x0ba7_c4ed_0000_0005);
    let plain = || Layout::Strided(Strided { offset: 0, block: 8, dims: vec![], size: 8 });
    for order in [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0]] {
        let layouts =
            order.iter().map(|&plain_one| if plain_one == 1 { plain() } else { Layout::Blocks(deep()) });
        let mut scene = Scene::new(driver, layouts.collect(), &mut random);
        let entered = entered(&scene);
        let mut lane = entered.lane().unwrap();
        for direction in [Pack, Unpack] {
            let (launches, calls) = scene.run(driver, &mut lane, &entered, direction);
            let deep = order.iter().filter(|&&plain_one| plain_one == 0).count();
            let several = launches - u32::from(deep < 3);
            let deep = u32::try_from(deep).unwrap();
            assert!((4 * deep..=8 * deep).contains(&several), "{order:?} {launches}");
            // Each table is copied once and waited for; the end is told by the flag.
            assert_eq!(calls, [u64::from(launches), calls[1], calls[1]], "{order:?}");
            assert_eq!(calls[1], if direction == Pack { u64::from(deep) } else { 0 }, "{order:?}");
            scene.stir(driver, &mut random);
        }
        drop(lane);
        drop(entered);
        scene.free(driver);
    }
    pool::drain();
}

#[test]
fn a_sequence_is_one_launch() {
    let (_guard, driver) = alone();
    let mut random = Random(0x0ba7_c4ed_0000_0006);
    for _ in 0..20 {
        let layout = random.parts();
        if overlaps(&layout) {
            continue;
        }
        let mut scene = Scene::new(driver, vec![layout], &mut random);
        let entered = entered(&scene);
        let mut lane = entered.lane().unwrap();
        scene.run(driver, &mut lane, &entered, Pack);
        scene.stir(driver, &mut random);
        let item = scene.items()[0];
        let ((), calls) = driver.counted(|| {
            // SAFETY: the mirrors hold what the layout names, and the lane is waited for.
            unsafe { exec::launch(&entered, &mut lane, item.layout, item.memory, item.packed, Unpack, true) }
                .unwrap();
            lane.wait().unwrap();
        });
        assert_eq!(calls, [1, 0, 0]);
        drop(lane);
        drop(entered);
        scene.free(driver);
    }
    pool::drain();
}

#[test]
fn tables_that_are_not_kept_live_until_they_were_read() {
    let (_guard, driver) = alone();
    let mut random = Random(0x0ba7_c4ed_0000_0007);
    table::set_limit(0);
    let plain = Layout::Strided(Strided { offset: 0, block: 8, dims: vec![], size: 8 });
    let mut scene =
        Scene::new(driver, vec![plain, random.parts_with_table(), Layout::Blocks(deep())], &mut random);
    let entered = entered(&scene);
    let mut lane = entered.lane().unwrap();
    for direction in [Pack, Unpack] {
        scene.run(driver, &mut lane, &entered, direction);
        scene.stir(driver, &mut random);
    }
    assert_eq!(table::bytes(), 0);

    // A later launch fails: those before it have ended when the table goes back to the pool.
    let item = scene.items()[2];
    for nth in 2..=4 {
        let to = pool::take(&entered, Memory::Mapped, 1 << 16).unwrap();
        // SAFETY: mapped memory of that length, which nothing uses.
        unsafe { std::ptr::write_bytes(to.address() as *mut u8, 0, 1 << 16) };
        let (result, calls) = driver.counted(|| {
            driver.arm(&format!("cuLaunchKernel:{nth}:999"));
            // SAFETY: both are long enough, and the lane is waited for.
            unsafe {
                exec::launch(&entered, &mut lane, item.layout, item.memory, to.device_address(), Pack, true)
            }
        });
        driver.arm("");
        assert_eq!(result.unwrap_err().code, 999);
        // One for the table's copy, one for the launches.
        assert_eq!(calls, [nth, 1, 2], "launch {nth}");
        lane.wait().unwrap();
    }
    table::set_limit(table::DEFAULT_LIMIT);
    drop(lane);
    drop(entered);
    scene.free(driver);
    pool::drain();
}

impl Random {
    /// As [`Random::parts`], of which one has a table, and no byte is named twice.
    fn parts_with_table(&mut self) -> Layout {
        loop {
            let layout = self.parts();
            let table = layout.leaves().any(|(_, leaf)| matches!(leaf, LeafRef::Blocks(_)));
            if table && !overlaps(&layout) {
                return layout;
            }
        }
    }
}

#[test]
fn a_list_that_cannot_be_copied_is_an_error() {
    let (_guard, driver) = alone();
    let mut random = Random(0x0ba7_c4ed_0000_0008);
    let layouts = (0..100).map(|_| Layout::Strided(random.strided())).collect();
    let mut scene = Scene::new(driver, layouts, &mut random);
    let entered = entered(&scene);
    // Lanes that never had a list.
    let lanes = (0..3).map(|_| entered.lane().unwrap()).collect::<Vec<_>>();
    for (mut lane, call) in lanes.into_iter().zip(["cuMemHostAlloc", "cuMemAlloc", "cuMemcpyAsync"]) {
        driver.arm(&format!("{call}:1:2"));
        // SAFETY: the mirrors hold what the layouts name; nothing is queued.
        let result = unsafe { batch::launch(&entered, &mut lane, &scene.items(), Pack, true) };
        driver.arm("");
        assert_eq!(result.unwrap_err().code, 2, "{call}");
        assert_eq!(scene.run(driver, &mut lane, &entered, Pack).0, 1, "{call}");
        scene.stir(driver, &mut random);
    }
    drop(entered);
    scene.free(driver);
}
