//! From launch graphs and kernel models, made by hand, to edges and plans.

#[path = "dependence/beside.rs"]
mod beside;
#[path = "dependence/builder.rs"]
mod builder;
#[path = "dependence/iterations.rs"]
mod iterations;
#[path = "dependence/maps.rs"]
mod maps;
#[path = "dependence/relations.rs"]
mod relations;
#[path = "dependence/planning.rs"]
mod planning;
#[path = "dependence/scale.rs"]
mod scale;
#[path = "dependence/unwritten.rs"]
mod unwritten;

#[test]
fn paths_speak_for_what_they_should() {
    sirius_oracle::paths::check_paths().unwrap();
}
