//! Parts of class files: after each edit of a program, exactly the test classes
//! that it can affect are selected, and those whose output differs are among
//! them. Real compilers and JVMs, without a build tool in between.

mod arrays;
mod harness;
mod inheritance;
mod looked_at;
mod members;
mod state;
