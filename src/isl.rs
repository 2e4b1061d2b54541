//! Everything the project needs of isl, safe and owned; the only unsafe isl site.
