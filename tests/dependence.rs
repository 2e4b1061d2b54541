//! From launch graphs and kernel models, made by hand, to edges and plans.

#[path = "dependence/builder.rs"]
mod builder;
#[path = "dependence/maps.rs"]
mod maps;
#[path = "dependence/relations.rs"]
mod relations;
#[path = "dependence/planning.rs"]
mod planning;
