//! Text and JSON views of what the stages found; reads everything, changes nothing.
