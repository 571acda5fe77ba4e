//! What the integration tests share: the library under test, every MPI that is here, compiling for one and running
//! under one, plain or preloaded.
//!
//! The MPIs are those of `scripts/mpi list`; a test that finds none fails and says how to install them.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `libtempi.so` as cargo built it beside this test.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own file");
    let library = test.parent().expect("tests lie in PROFILE/deps").join("libtempi.so");
    assert!(library.is_file(), "no {}", library.display());
    library
}

/// An MPI of `scripts/mpi list`.
#[derive(Clone, Debug)]
pub(crate) struct Mpi {
    /// Its name there.
    pub(crate) name: String,
    /// The C compiler wrapper.
    pub(crate) cc: String,
    /// The Fortran compiler wrapper, if there is one.
    pub(crate) fc: Option<String>,
    /// The file that holds the MPI.
    pub(crate) lib: String,
}

/// What `scripts/mpi ARGS` prints.
fn script(args: &[&str]) -> String {
    let output = Command::new(root().join("scripts/mpi")).args(args).output().expect("scripts/mpi starts");
    assert!(output.status.success(), "scripts/mpi {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("scripts/mpi prints text")
}

/// Every MPI that is here.
pub(crate) fn mpis() -> &'static [Mpi] {
    static MPIS: OnceLock<Vec<Mpi>> = OnceLock::new();
    MPIS.get_or_init(|| {
        let found: Vec<_> = script(&["list"])
            .lines()
            .map(|name| {
                let settings = script(&["env", name]);
                let value = |key: &str| {
                    let line = settings.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix('='));
                    line.unwrap_or_default().trim_matches('\'').to_owned()
                };
                let fc = Some(value("FC")).filter(|fc| !fc.is_empty());
                Mpi { name: name.to_owned(), cc: value("CC"), fc, lib: value("LIB") }
            })
            .collect();
        assert!(!found.is_empty(), "no MPI here: run scripts/mpi install");
        found
    })
}

/// A Python that has mpi4py.
pub(crate) fn python() -> String {
    script(&["python"]).trim().to_owned()
}

/// The folder of the simulated CUDA driver, built once.
pub(crate) fn simulated_driver() -> &'static Path {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simcuda");
        run(Command::new(root().join("scripts/simcuda")).arg(&folder));
        folder
    })
}

/// Run a command that has to succeed, for at most a minute; what it printed on standard output and error.
pub(crate) fn run(command: &mut Command) -> (String, String) {
    let mut timed = Command::new("timeout");
    timed.args(["-k", "5", "60"]).arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => timed.env(name, value),
            None => timed.env_remove(name),
        };
    }
    let output = timed.output().expect("timeout starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    (out, err)
}

/// Lines in an order that does not depend on which rank was faster.
pub(crate) fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

impl Mpi {
    /// Compile a source file of the repository with the C (or, for `.F90`, Fortran) wrapper; `what` tells builds of the
    /// same source apart.
    pub(crate) fn compile(&self, source: &str, what: &str, flags: &[&str]) -> PathBuf {
        let source = root().join(source);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&self.name);
        fs::create_dir_all(&folder).expect("a folder under target");
        let program = folder.join(format!("{}-{what}", source.file_stem().expect("a file").display()));
        let fortran = source.extension().is_some_and(|e| e == "F90");
        let wrapper = if fortran { self.fc.as_ref().expect("a Fortran compiler") } else { &self.cc };
        let mut command = Command::new(wrapper);
        command.args(["-O1", "-g", "-Wall"]).arg(&source).arg("-o").arg(&program).args(flags);
        run(&mut command);
        program
    }

    /// The command that starts `ranks` ranks of a program; `vars` reach the ranks only.
    pub(crate) fn command(&self, ranks: usize, vars: &[(&str, &str)], program: &[&str]) -> Command {
        let mut command = Command::new(root().join("scripts/mpi"));
        command.args(["run", &self.name, "-n", &ranks.to_string()]);
        command.args(vars.iter().map(|(name, value)| format!("{name}={value}"))).args(program);
        command
    }

    /// Run a program plain and preloaded: both print the same lines, and at least one. What the preloaded run wrote to
    /// standard error, where the report of the library stands.
    pub(crate) fn same(&self, ranks: usize, vars: &[(&str, &str)], program: &[&str]) -> String {
        let library = library().display().to_string();
        let (plain, _) = run(&mut self.command(ranks, vars, program));
        let mut with = vars.to_vec();
        with.extend([("LD_PRELOAD", library.as_str()), ("TEMPI_REPORT", "on")]);
        let (preloaded, report) = run(&mut self.command(ranks, &with, program));
        assert!(!plain.trim().is_empty(), "{}: {program:?} prints nothing", self.name);
        assert_eq!(sorted(&preloaded), sorted(&plain), "{}: {program:?} preloaded and plain", self.name);
        report
    }
}
