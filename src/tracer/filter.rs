//! Which system calls stop until the supervisor has looked at them: a program for the
//! kernel's filter, as `seccomp(2)` takes it.

use libc::{c_long, sock_filter};

/// What is asked of the kernel is read at these places of `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const IF_ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;

#[cfg(target_arch = "x86_64")]
pub(super) const NATIVE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
pub(super) const NATIVE: u32 = 0xC000_00B7;

/// From here on numbers are of another convention of calls (x32), of which nothing is known.
#[cfg(target_arch = "x86_64")]
const FOREIGN: u32 = 0x4000_0000;
#[cfg(target_arch = "aarch64")]
const FOREIGN: u32 = 0x8000_0000;

/// Calls that name a path or a peer, in the order of how often programs use them.
const CALLS: &[c_long] = &[
    libc::SYS_openat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_openat2,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_truncate,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_io_uring_setup,
    libc::SYS_open_by_handle_at,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsmount,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_chdir,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_statfs,
    libc::SYS_inotify_add_watch,
    libc::SYS_name_to_handle_at,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
];

/// `fchmodat2`, of Linux 6.6.
pub(super) const FCHMODAT2: c_long = 452;

/// The same in the form without a directory, which newer architectures lack.
#[cfg(target_arch = "x86_64")]
const OLDER: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_creat,
    libc::SYS_unlink,
    libc::SYS_rmdir,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_mkdir,
    libc::SYS_mknod,
    libc::SYS_getdents,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(target_arch = "aarch64")]
const OLDER: &[c_long] = &[];

/// Calls about an open file, unless this argument lacks the flag for an empty path.
const ABOUT_OPEN: [(c_long, u32); 2] = [(libc::SYS_newfstatat, 3), (libc::SYS_statx, 2)];

/// The filter. It looks at the architecture first: the numbers of others mean other calls.
pub(super) fn program() -> Vec<sock_filter> {
    let mut program = vec![
        statement(LOAD, ARCHITECTURE),
        jump(IF_EQUAL, NATIVE, 1, 0),
        statement(RETURN, ASK),
        statement(LOAD, NUMBER),
        jump(IF_AT_LEAST, FOREIGN, 0, 1),
        statement(RETURN, ASK),
    ];
    for (call, flags) in ABOUT_OPEN {
        program.extend([
            jump(IF_EQUAL, call as u32, 0, 7),
            statement(LOAD, argument(flags)),
            jump(IF_ANY_BIT, libc::AT_EMPTY_PATH as u32, 1, 0),
            statement(RETURN, ASK),
            statement(LOAD, argument(0)),
            jump(IF_EQUAL, libc::AT_FDCWD as u32, 0, 1),
            statement(RETURN, ASK),
            statement(RETURN, ALLOW),
        ]);
    }
    // What is sent over a connection names no address.
    program.extend([
        jump(IF_EQUAL, libc::SYS_sendto as u32, 0, 6),
        statement(LOAD, argument(4)),
        jump(IF_EQUAL, 0, 0, 2),
        statement(LOAD, argument(4) + 4),
        jump(IF_EQUAL, 0, 1, 0),
        statement(RETURN, ASK),
        statement(RETURN, ALLOW),
    ]);
    for call in CALLS.iter().chain(OLDER) {
        program.extend([jump(IF_EQUAL, *call as u32, 0, 1), statement(RETURN, ASK)]);
    }
    program.push(statement(RETURN, ALLOW));
    program
}

/// Where the lower half of an argument lies: both architectures are little-endian.
fn argument(number: u32) -> u32 {
    ARGUMENTS + 8 * number
}

fn statement(code: u16, k: u32) -> sock_filter {
    sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    }
}

fn jump(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would answer, by the same few instructions.
    fn run(program: &[sock_filter], data: &[u8; 64]) -> u32 {
        let word = |at: u32| {
            let at = at as usize;
            u32::from_le_bytes(data[at..at + 4].try_into().unwrap())
        };
        let (mut at, mut known) = (0, 0);
        loop {
            let one = program[at];
            at += 1;
            let holds = match one.code {
                LOAD => {
                    known = word(one.k);
                    continue;
                }
                RETURN => return one.k,
                IF_EQUAL => known == one.k,
                IF_ANY_BIT => known & one.k != 0,
                IF_AT_LEAST => known >= one.k,
                code => panic!("instruction {code}"),
            };
            at += usize::from(if holds { one.jt } else { one.jf });
        }
    }

    fn answer(architecture: u32, number: c_long, arguments: [u64; 6]) -> u32 {
        let mut data = [0; 64];
        data[..4].copy_from_slice(&(number as u32).to_le_bytes());
        data[4..8].copy_from_slice(&architecture.to_le_bytes());
        for (at, argument) in arguments.into_iter().enumerate() {
            let from = 16 + 8 * at;
            data[from..from + 8].copy_from_slice(&argument.to_le_bytes());
        }
        run(&program(), &data)
    }

    #[test]
    fn calls_with_paths_ask_and_others_do_not() {
        let plain = |number| answer(NATIVE, number, [0; 6]);
        for call in CALLS.iter().chain(OLDER) {
            assert_eq!(plain(*call), ASK, "{call}");
        }
        for call in [
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_mmap,
            libc::SYS_close,
        ] {
            assert_eq!(plain(call), ALLOW, "{call}");
        }
    }

    #[test]
    fn what_is_about_an_open_file_does_not_ask() {
        let empty = libc::AT_EMPTY_PATH as u64;
        assert_eq!(
            answer(NATIVE, libc::SYS_newfstatat, [0, 0, 0, empty, 0, 0]),
            ALLOW
        );
        let here = libc::AT_FDCWD as u32 as u64;
        assert_eq!(
            answer(NATIVE, libc::SYS_newfstatat, [here, 0, 0, empty, 0, 0]),
            ASK
        );
        assert_eq!(answer(NATIVE, libc::SYS_newfstatat, [0; 6]), ASK);
        assert_eq!(
            answer(NATIVE, libc::SYS_statx, [0, 0, empty, 0, 0, 0]),
            ALLOW
        );
        assert_eq!(answer(NATIVE, libc::SYS_statx, [0; 6]), ASK);
        assert_eq!(answer(NATIVE, libc::SYS_sendto, [0; 6]), ALLOW);
        for address in [8, 1 << 40] {
            assert_eq!(
                answer(NATIVE, libc::SYS_sendto, [0, 0, 0, 0, address, 0]),
                ASK
            );
        }
    }

    #[test]
    fn whatever_a_foreign_program_calls_asks() {
        assert_eq!(answer(0x4000_0003, libc::SYS_read, [0; 6]), ASK);
        assert_eq!(
            answer(NATIVE, i64::from(FOREIGN) + libc::SYS_read, [0; 6]),
            ASK
        );
    }
}
