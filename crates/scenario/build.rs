//! Builds anew when a file of the catalogue is added or removed: the catalogue is embedded.

fn main() {
    #[allow(clippy::print_stdout, reason = "how a build script talks to cargo")]
    {
        println!("cargo::rerun-if-changed=../../catalogue");
    }
}
