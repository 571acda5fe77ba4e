//! C programs of `tests/apps` as ranks of a real MPI, with and without the library preloaded, on host memory or on the
//! simulated device.
//!
//! MPIs come from `scripts/mpi list`; a machine without any has nothing to test here, and says so.
#![allow(dead_code, unreachable_pub, missing_docs)] // Every test program uses its own part.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // A test may panic.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::Value;

/// An MPI that is usable here.
#[derive(Clone, Debug)]
pub struct Mpi {
    /// As `scripts/mpi` calls it.
    pub name: String,
    /// Its compiler's words.
    cc: String,
    /// `openmpi`, `mpich` or `abi`.
    pub family: String,
}

fn script(arguments: &[&str]) -> String {
    let output = Command::new("scripts/mpi").args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "scripts/mpi {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Every MPI that is usable here.
pub fn mpis() -> &'static [Mpi] {
    static MPIS: LazyLock<Vec<Mpi>> = LazyLock::new(|| {
        let list = script(&["list"]);
        let mpis: Vec<Mpi> = list
            .lines()
            .map(|name| {
                let settings = script(&["env", name]);
                let value = |key: &str| {
                    let line = settings.lines().find_map(|line| line.strip_prefix(key));
                    line.unwrap().replace('\\', "")
                };
                Mpi { name: name.to_owned(), cc: value("CC="), family: value("FAMILY=") }
            })
            .collect();
        if mpis.is_empty() {
            println!("skipped: scripts/mpi finds no MPI");
        }
        mpis
    });
    &MPIS
}

/// One MPI of each kind of handle: the ones that are quick to start, if they are there.
pub fn two_mpis() -> Vec<&'static Mpi> {
    let of = |names: &[&str]| names.iter().find_map(|name| mpis().iter().find(|mpi| mpi.name == *name));
    [of(&["openmpi4", "openmpi5"]), of(&["mpich4", "mpich5"])].into_iter().flatten().collect()
}

/// The library that cargo built along with this test.
pub fn library() -> PathBuf {
    let mut path = env::current_exe().unwrap();
    path.set_file_name("libtempi.so");
    assert!(path.exists(), "{}", path.display());
    path
}

/// A folder for what tests write.
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// The folder of the simulated `libcuda.so.1`, built once.
pub fn simulator() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let out = folder().join("simcuda");
        let status = Command::new("scripts/simcuda").arg(&out).status().unwrap();
        assert!(status.success(), "scripts/simcuda");
        out
    });
    &BUILT
}

impl Mpi {
    /// Compile `tests/apps/NAME.c` with this MPI; with `cuda` its buffers lie on a device.
    pub fn compile(&self, name: &str, cuda: bool) -> PathBuf {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let out = folder().join(&self.name);
        fs::create_dir_all(&out).unwrap();
        let source = PathBuf::from(format!("tests/apps/{name}.c"));
        let program = out.join(if cuda { format!("{name}.cuda") } else { name.to_owned() });
        let made = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
        let newest = [
            &source,
            Path::new("tests/cases/large.h"),
            Path::new("tests/apps/recipe.h"),
            Path::new("tests/cases/mem.h"),
        ]
        .into_iter()
        .filter_map(made)
        .max();
        if made(&program) > newest {
            return program;
        }
        let mut words = self.cc.split_whitespace();
        let output = Command::new(words.next().unwrap())
            .args(words)
            .args([
                "-std=gnu11",
                "-O1",
                "-g",
                "-Wall",
                "-Wextra",
                "-Wno-cast-function-type",
                "-Wno-stringop-overread",
                "-Wno-stringop-overflow",
                "-Itests/cases",
            ])
            .args(cuda.then_some("-DUSE_CUDA"))
            .arg(source)
            .args(["-pthread", "-ldl", "-o"])
            .arg(&program)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("warning"), "{name}, {}: {said}", self.name);
        program
    }

    /// A run of `program`.
    pub fn run<'a>(&'a self, ranks: usize, program: &'a Path) -> Run<'a> {
        Run { mpi: self, ranks, program, variables: Vec::new(), library_path: None, arguments: Vec::new() }
    }
}

/// Ranks to be started.
#[must_use]
pub struct Run<'a> {
    mpi: &'a Mpi,
    ranks: usize,
    program: &'a Path,
    variables: Vec<String>,
    library_path: Option<&'static Path>,
    arguments: Vec<String>,
}

impl Run<'_> {
    pub fn argument(mut self, argument: impl AsRef<str>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Set a variable of the ranks.
    pub fn with(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.variables.push(format!("{name}={}", value.as_ref()));
        self
    }

    pub fn preloaded(self) -> Self {
        let library = library();
        self.with("LD_PRELOAD", library.to_str().unwrap())
    }

    /// Give the ranks the simulated driver. `aware`: the MPI can read device memory, and the library knows it.
    pub fn simulated(mut self, aware: bool) -> Self {
        self.library_path = Some(simulator());
        if aware { self.with("SIMCUDA_READABLE", "1").with("TEMPI_CUDA_AWARE", "1") } else { self }
    }

    /// Start the ranks, and wait for a minute or two at most.
    pub fn output(self) -> Output {
        let mut command = Command::new("timeout");
        command
            .args(["-k", "5", "150", "scripts/mpi", "run", &self.mpi.name, "-n"])
            .arg(self.ranks.to_string());
        if let Some(path) = self.library_path {
            command.arg(format!("LD_LIBRARY_PATH={}", path.display()));
        }
        // What the one who tests has set is no part of the test.
        for (name, _) in env::vars_os() {
            if ["TEMPI_", "SIMCUDA_", "MEM_"].iter().any(|own| name.to_string_lossy().starts_with(own)) {
                command.env_remove(name);
            }
        }
        command.args(self.variables).arg(self.program).args(self.arguments).output().unwrap()
    }

    /// Start the ranks, expect success, and give what they printed.
    #[track_caller]
    pub fn succeed(self) -> String {
        let what = format!(
            "{}: {} {:?} {:?}",
            self.mpi.name,
            self.program.display(),
            self.arguments,
            self.variables
        );
        let output = self.output();
        let (said, complained) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{what}: {}\n{said}\n{complained}", output.status);
        said.into_owned()
    }

    /// Start preloaded ranks, expect success, and give what they printed and the report of each. `name` is the test's own.
    #[track_caller]
    pub fn reported(self, name: &str) -> (String, Vec<Report>) {
        let ranks = self.ranks;
        let file = |rank: &str| folder().join(&self.mpi.name).join(format!("{name}-{rank}.json"));
        let files: Vec<PathBuf> = (0..ranks).map(|rank| file(&rank.to_string())).collect();
        for old in &files {
            let _ = fs::remove_file(old);
        }
        let pattern = file("%r");
        let said = self.preloaded().with("TEMPI_REPORT", pattern.to_str().unwrap()).succeed();
        let read = |file: &PathBuf| {
            let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            Report(serde_json::from_str(&text).unwrap())
        };
        (said, files.iter().map(read).collect())
    }
}

/// The report of one rank.
#[derive(Debug)]
pub struct Report(pub Value);

impl Report {
    /// Calls forwarded: function, reason, calls.
    pub fn forwarded(&self) -> Vec<(&str, &str, u64)> {
        self.0["forwarded"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| {
                let text = |key: &str| line[key].as_str().unwrap();
                (text("function"), text("reason"), line["calls"].as_u64().unwrap())
            })
            .collect()
    }

    /// Calls accelerated: function, means, calls, bytes.
    pub fn accelerated(&self) -> Vec<(&str, &str, u64, u64)> {
        self.0["accelerated"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| {
                let number = |key: &str| line[key].as_u64().unwrap();
                (
                    line["function"].as_str().unwrap(),
                    line["means"].as_str().unwrap(),
                    number("calls"),
                    number("bytes"),
                )
            })
            .collect()
    }
}
