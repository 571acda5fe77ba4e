//! Which MPI functions the objects of this process import that pass us by: those of MPI-4 and later, and extensions.
//!
//! We cannot export a function that not every MPI has and that we cannot serve without it (`large`): a program that tests for it by a weak symbol
//! would find ours. So a process that calls such functions is one whose calls we do not all see, and that is read from what the dynamic linker itself reads: the relocations of each
//! loaded object. Nothing of an object is called or changed. A function that a program looks up by name (`dlsym`) is not found.
//!
//! Depends on nothing but the tables of names. The invariant: what is read of an object is read while the dynamic linker holds it, inside of
//! `dl_iterate_phdr`, which tolerates an object that is damaged as little as the linker does.

use super::relay;
use parking_lot::Mutex;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::slice;

/// The names under which C and Fortran start MPI. Whoever defines one is the MPI, its Fortran layer, or a tool that passes calls on.
const MARKS: [&CStr; 4] = [c"MPI_Init", c"PMPI_Init", c"mpi_init_", c"mpi_init_f08_"];

/// The functions that an object of this process imports from its MPI and that are neither hooks nor relays nor harmless, sorted. The
/// objects are looked at again after one was loaded; otherwise the answer costs the dynamic linker's count of them (some 30 ns).
pub fn foreign() -> &'static [String] {
    /// The count of loaded objects at the last look, and what was found.
    static FOUND: Mutex<(u64, &[String])> = Mutex::new((u64::MAX, &[]));
    let adds = objects_added();
    let mut found = FOUND.lock();
    if found.0 != adds {
        found.0 = adds;
        let names = scan();
        if *names != *found.1 {
            tracing::debug!(?names, "functions of MPI that pass unseen");
            // Once for each plug-in that brings new ones.
            found.1 = Vec::leak(names);
        }
    }
    found.1
}

/// How many objects the dynamic linker has ever loaded into this process.
fn objects_added() -> u64 {
    let mut adds = 0;
    visit(&mut |info| {
        adds = info.dlpi_adds;
        false
    });
    adds
}

/// Look at every object.
fn scan() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    visit(&mut |info| {
        if let Some(object) = Object::of(info)
            && !MARKS.iter().any(|mark| object.defines(mark))
        {
            object.imports(&mut |name| {
                if let Ok(name) = name.to_str()
                    && passes_unseen(name)
                    && !names.iter().any(|known| known == name)
                {
                    names.push(name.to_owned());
                }
            });
        }
        true
    });
    // A name is MPI's if an MPI has it: a program may name its own functions like that, or test for what this MPI lacks.
    let mut of_mpi = vec![false; names.len()];
    visit(&mut |info| {
        if let Some(object) = Object::of(info)
            && MARKS.iter().any(|mark| object.defines(mark))
        {
            for (name, found) in names.iter().zip(&mut of_mpi) {
                *found |= std::ffi::CString::new(name.as_str()).is_ok_and(|name| object.defines(&name));
            }
        }
        true
    });
    let mut found: Vec<_> =
        names.into_iter().zip(of_mpi).filter_map(|(name, found)| found.then_some(name)).collect();
    found.sort_unstable();
    found
}

/// Whether a symbol has the name of an MPI function that is not ours and not harmless.
fn passes_unseen(symbol: &str) -> bool {
    let name = symbol.strip_prefix(['P', 'p']).unwrap_or(symbol);
    if let Some(rest) = name.strip_prefix("MPIX_") {
        return !(rest.starts_with("Query_") && rest.ends_with("_support"));
    }
    if let Some(rest) = name.strip_prefix("MPI_") {
        // Constants are MPI_UPPER_CASE, and MPI_T_ is a world of its own.
        let mut letters = rest.bytes();
        let function = letters.next().is_some_and(|c| c.is_ascii_uppercase())
            && letters.next().is_some_and(|c| c.is_ascii_lowercase());
        return function && !known(rest) && !CONVERSIONS.iter().any(|end| rest.ends_with(end));
    }
    // Fortran: mpi_send_, and mpi_send_f08_ or mpi_send_f08ts_ of the module mpi_f08.
    let Some(rest) = name.strip_prefix("mpi_").or_else(|| name.strip_prefix("mpix_")) else { return false };
    let Some(rest) = rest.strip_suffix('_') else { return false };
    let rest = rest.trim_end_matches('_');
    let rest = rest.strip_suffix("_f08ts").or_else(|| rest.strip_suffix("_f08")).unwrap_or(rest);
    let rest = rest.strip_suffix("_cptr").unwrap_or(rest);
    !known(rest)
        && !rest.ends_with("_fn")
        && !["sizeof", "f_sync_reg", "status_f", "fortran_"].iter().any(|start| rest.starts_with(start))
}

/// Endings of the functions that convert a handle.
const CONVERSIONS: [&str; 8] = ["_c2f", "_f2c", "_c2f08", "_f082c", "_f2f08", "_f082f", "_fromint", "_toint"];

/// Whether `MPI_` and `rest`, in any case of letters, is a hook, a relay or harmless.
fn known(rest: &str) -> bool {
    let is = |name: &&str| name.get(4..).is_some_and(|name| name.eq_ignore_ascii_case(rest));
    relay::NAMES.iter().any(is) || relay::HOOKS.iter().any(is) || relay::HARMLESS.iter().any(is)
}

/// Call `body` for each loaded object until it returns false.
fn visit(body: &mut dyn FnMut(&libc::dl_phdr_info) -> bool) {
    type Body<'a> = &'a mut dyn FnMut(&libc::dl_phdr_info) -> bool;
    unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, body: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr passes a valid description.
        let info = unsafe { &*info };
        // SAFETY: `visit` passes its closure, by a pointer to the reference, and uses it nowhere else meanwhile.
        let body = unsafe { &mut *body.cast::<Body>() };
        c_int::from(!body(info))
    }
    let mut body: Body = body;
    // SAFETY: the callback matches the declared type, gets what it expects, and does not unwind: nothing in the closures panics.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut body).cast()) };
}

/// An entry of the dynamic section.
#[derive(Clone, Copy)]
#[repr(C)]
struct Dyn {
    tag: u64,
    value: usize,
}

/// A symbol (`Elf64_Sym`).
#[derive(Clone, Copy)]
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// A relocation (`Elf64_Rela`).
#[derive(Clone, Copy)]
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

const PT_DYNAMIC: u32 = 2;
const STT_OBJECT: u8 = 1;
const STT_TLS: u8 = 6;

/// The dynamic section of a loaded object: addresses, 0 where it has no such part.
#[derive(Default)]
struct Object {
    symbols: usize,
    strings: usize,
    hash: usize,
    gnu_hash: usize,
    /// Of data, of which the first `relative` name no symbol.
    data: usize,
    data_bytes: usize,
    relative: usize,
    /// Of calls.
    calls: usize,
    calls_bytes: usize,
}

impl Object {
    fn of(info: &libc::dl_phdr_info) -> Option<Self> {
        let base = usize::try_from(info.dlpi_addr).ok()?;
        if info.dlpi_phdr.is_null() {
            return None;
        }
        // SAFETY: the linker says where the program headers lie and how many there are.
        let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let dynamic = headers.iter().find(|header| header.p_type == PT_DYNAMIC)?;
        let mut at = base.wrapping_add(usize::try_from(dynamic.p_vaddr).ok()?);
        // glibc has added the base to these addresses, but for the kernel's object, which cannot be written.
        let address = |value: usize| if value < base { value.wrapping_add(base) } else { value };
        let mut object = Self::default();
        loop {
            // SAFETY: the dynamic section is mapped, and ends with an entry whose tag is 0.
            let Dyn { tag, value } = unsafe { read(at, 0) };
            match tag {
                0 => break,
                2 => object.calls_bytes = value,                 // DT_PLTRELSZ
                4 => object.hash = address(value),               // DT_HASH
                5 => object.strings = address(value),            // DT_STRTAB
                6 => object.symbols = address(value),            // DT_SYMTAB
                7 => object.data = address(value),               // DT_RELA
                8 => object.data_bytes = value,                  // DT_RELASZ
                23 => object.calls = address(value),             // DT_JMPREL
                0x6fff_fef5 => object.gnu_hash = address(value), // DT_GNU_HASH
                0x6fff_fff9 => object.relative = value,          // DT_RELACOUNT
                _ => {}
            }
            at = at.wrapping_add(size_of::<Dyn>());
        }
        (object.symbols != 0 && object.strings != 0).then_some(object)
    }

    /// Call `body` with the name of each function that a relocation refers to and that the object does not define.
    fn imports(&self, body: &mut dyn FnMut(&CStr)) {
        for (table, bytes, skipped) in
            [(self.data, self.data_bytes, self.relative), (self.calls, self.calls_bytes, 0)]
        {
            let count = if table == 0 { 0 } else { bytes / size_of::<Relocation>() };
            for index in skipped..count {
                // SAFETY: the table has that many relocations.
                let relocation: Relocation = unsafe { read(table, index) };
                let Ok(index) = usize::try_from(relocation.info >> 32) else { continue };
                if index == 0 {
                    continue;
                }
                // SAFETY: a relocation refers to a symbol of the table.
                let symbol: Symbol = unsafe { read(self.symbols, index) };
                if symbol.section == 0 && !symbol.is_data() {
                    body(self.name(symbol));
                }
            }
        }
    }

    /// Whether the object defines a function of this name.
    fn defines(&self, name: &CStr) -> bool {
        let is = |index: u32| {
            // SAFETY: the hash tables refer to symbols of the table.
            let symbol: Symbol = unsafe { read(self.symbols, index as usize) };
            symbol.section != 0 && !symbol.is_data() && self.name(symbol) == name
        };
        if self.gnu_hash != 0 { self.gnu_candidates(name, is) } else { self.sysv_candidates(name, is) }
    }

    /// Whether `is` holds for a symbol in the chain of `name` of `DT_GNU_HASH`: the numbers of buckets, of the first symbol, and of words
    /// of a filter, the filter, the buckets, the chains, whose last hash is odd.
    fn gnu_candidates(&self, name: &CStr, is: impl Fn(u32) -> bool) -> bool {
        // SAFETY: the table is mapped and begins with four numbers.
        let [buckets, first, words, _]: [u32; 4] = unsafe { read(self.gnu_hash, 0) };
        if buckets == 0 {
            return false;
        }
        let hash =
            name.to_bytes().iter().fold(5381_u32, |h, c| h.wrapping_mul(33).wrapping_add(u32::from(*c)));
        let table = self.gnu_hash.wrapping_add(16).wrapping_add(words as usize * 8);
        let chains = table.wrapping_add(buckets as usize * 4);
        // SAFETY: the remainder is the index of a bucket.
        let mut index: u32 = unsafe { read(table, (hash % buckets) as usize) };
        while index >= first && index != 0 {
            // SAFETY: there is a hash for each symbol from the first one to the end of the last chain.
            let other: u32 = unsafe { read(chains, (index - first) as usize) };
            if other | 1 == hash | 1 && is(index) {
                return true;
            }
            if other & 1 == 1 {
                break;
            }
            index = index.wrapping_add(1);
        }
        false
    }

    /// The same of `DT_HASH`: the numbers of buckets and of symbols, the buckets, the chains.
    fn sysv_candidates(&self, name: &CStr, is: impl Fn(u32) -> bool) -> bool {
        if self.hash == 0 {
            return false;
        }
        // SAFETY: the table is mapped and begins with two numbers.
        let [buckets, _]: [u32; 2] = unsafe { read(self.hash, 0) };
        if buckets == 0 {
            return false;
        }
        let hash = name.to_bytes().iter().fold(0_u32, |h, c| {
            let h = (h << 4).wrapping_add(u32::from(*c));
            (h ^ ((h & 0xf000_0000) >> 24)) & 0x0fff_ffff
        });
        let table = self.hash.wrapping_add(8);
        let chains = table.wrapping_add(buckets as usize * 4);
        // SAFETY: the remainder is the index of a bucket.
        let mut index: u32 = unsafe { read(table, (hash % buckets) as usize) };
        while index != 0 {
            if is(index) {
                return true;
            }
            // SAFETY: there is a link for each symbol.
            index = unsafe { read(chains, index as usize) };
        }
        false
    }

    fn name(&self, symbol: Symbol) -> &CStr {
        let at = self.strings.wrapping_add(symbol.name as usize);
        // SAFETY: a symbol's name is a C string in the object's table, which stays while the object does.
        unsafe { CStr::from_ptr(ptr::with_exposed_provenance(at)) }
    }
}

impl Symbol {
    fn is_data(self) -> bool {
        matches!(self.info & 15, STT_OBJECT | STT_TLS)
    }
}

/// Entry `index` of a table of the dynamic linker's.
///
/// # Safety
/// The table is mapped, and has this entry.
unsafe fn read<T: Copy>(table: usize, index: usize) -> T {
    let entry = table.wrapping_add(index.wrapping_mul(size_of::<T>()));
    // SAFETY: the caller's duty.
    unsafe { ptr::read_unaligned(ptr::with_exposed_provenance::<T>(entry)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_pass_unseen() {
        for name in [
            "MPI_Bcast_c",
            "PMPI_Barrier_init",
            "MPI_Isendrecv",
            "MPI_Psend_init",
            "MPI_Session_init",
            "MPIX_Allreduce_init",
            "mpi_barrier_init_",
            "pmpi_barrier_init__",
            "mpi_bcast_c_f08ts_",
            "mpi_session_init_f08_",
            "mpix_comm_revoke_",
        ] {
            assert!(passes_unseen(name), "{name}");
        }
    }

    #[test]
    fn names_that_are_seen_or_harmless_or_not_of_mpi() {
        for name in [
            "MPI_Send",
            "PMPI_Waitall",
            "PMPI_Send_c",
            "MPI_Barrier",
            "PMPI_Wtime",
            "MPI_Wtick",
            "MPI_Abort",
            "MPI_Comm_f2c",
            "MPI_Status_f082c",
            "MPI_T_init_thread",
            "MPI_UNWEIGHTED",
            "MPI_F08_STATUS_IGNORE",
            "MPIX_Query_cuda_support",
            "mpi_send_",
            "mpi_send__",
            "pmpi_isend_f08_",
            "mpi_isend_f08ts_",
            "mpi_alloc_mem_cptr_f08_",
            "mpi_win_allocate_cptr_",
            "mpi_wtick_f08_",
            "mpi_comm_dup_fn_",
            "mpi_fortran_bottom_",
            "mpi_sizeof_i4_",
            "mpi_f_sync_reg_f08ts_",
            "mpi_utils",
            "ompi_mpi_comm_world",
            "printf",
            "P",
            "",
        ] {
            assert!(!passes_unseen(name), "{name}");
        }
    }

    #[test]
    fn this_process_has_no_mpi() {
        assert_eq!(foreign(), Vec::<String>::new());
    }
}
