//! Turns `src/cuda/symbols.txt` into hidden trampolines, one for each name of the CUDA driver API that cust may
//! refer to, so that the library links and loads without a driver (see `src/cuda/driver.rs`).
//!
//! Writes to `OUT_DIR`:
//! * `trampolines.rs`: a `global_asm!` that defines every name as one indirect jump through its slot of `TABLE`.
//!   `.hidden` keeps them out of the dynamic symbol table: an exported `cuInit` in a preloaded library would take the
//!   driver's place in the application.
//! * `symbols.rs`: the names in table order, and each name's index as a constant.
//!
//! Nothing is probed: no CUDA, no MPI, no compiler but rustc.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/cuda/symbols.txt");
    let list = fs::read_to_string("src/cuda/symbols.txt")?;
    let names: Vec<&str> = list.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if let Some(bad) = names.iter().find(|name| !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
    {
        return Err(format!("src/cuda/symbols.txt: not a symbol: {bad}").into());
    }

    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    fs::write(out.join("trampolines.rs"), trampolines(&names, &env::var("CARGO_CFG_TARGET_ARCH")?)?)?;
    fs::write(out.join("symbols.rs"), symbols(&names)?)?;
    Ok(())
}

/// The trampolines as Rust source. `{table}` is replaced by the compiler with the mangled name of `TABLE`.
fn trampolines(names: &[&str], arch: &str) -> Result<String, Box<dyn Error>> {
    let mut text = String::from(
        "core::arch::global_asm!(r#\"\n.pushsection .text.tempi_cuda,\"ax\",@progbits\n.p2align 4\n",
    );
    for (index, name) in names.iter().enumerate() {
        let offset = index * 8;
        let jump = match arch {
            "x86_64" => format!("jmp *{{table}}+{offset}(%rip)"),
            // x16 is the scratch register that the procedure call standard gives to linkage code like this.
            "aarch64" => {
                format!("adrp x16, {{table}}+{offset}\n ldr x16, [x16, #:lo12:{{table}}+{offset}]\n br x16")
            }
            other => return Err(format!("no trampolines for {other}").into()),
        };
        writeln!(
            text,
            ".globl {name}\n.hidden {name}\n.type {name},@function\n{name}:\n {jump}\n.size {name}, .-{name}"
        )?;
    }
    let options = if arch == "x86_64" { ", options(att_syntax)" } else { "" };
    writeln!(text, ".popsection\n\"#, table = sym TABLE{options});")?;
    Ok(text)
}

/// The names and their indices as Rust source.
fn symbols(names: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut text = format!("pub(in crate::cuda) static NAMES: [&core::ffi::CStr; {}] = [\n", names.len());
    for name in names {
        writeln!(text, "    c\"{name}\",")?;
    }
    text.push_str("];\n");
    for (index, name) in names.iter().enumerate() {
        writeln!(text, "pub(in crate::cuda) const {name}: usize = {index};")?;
    }
    Ok(text)
}
