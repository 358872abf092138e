//! What people see: output, status, other commands.
