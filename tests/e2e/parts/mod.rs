//! Parts of class files: after each edit of a program exactly the affected test classes are
//! selected, and these include all classes whose output changes. Real compilers and JVMs,
//! without a build tool.

mod arrays;
mod harness;
mod inheritance;
mod looked_at;
mod members;
mod state;
