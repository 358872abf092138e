//! Whom the processes of a test talk to. Among themselves they may; what was there before is
//! an input that nobody can compare.

use std::cell::OnceCell;

use bstr::{BString, ByteSlice};
use rustc_hash::FxHashSet;

use super::caller::Caller;
use super::calls::Calls;
use super::notices::bytes;
use crate::tracer::paths::{Found, fingerprint};
use crate::tracer::seen::{Use, Write};

/// The longest address that is read, in bytes.
const LONGEST: usize = 128;

/// How many messages of one call are looked at; with more of them nothing is known.
const MOST_MESSAGES: u64 = 64;

/// The lengths of `struct msghdr`, and of `struct mmsghdr` around it.
const HEADER: usize = 56;
const WITH_LENGTH: u64 = 64;

/// The address of this machine, by version 6.
const HERE: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

/// Services of this machine.
#[derive(Debug, Default)]
pub(super) struct Peers {
    before: OnceCell<Before>,
    /// Whether a process of the test offers a service.
    serves: bool,
}

/// Those that were there before the test had any. To list them takes as long as a short test,
/// so that happens when one first names an address.
#[derive(Debug)]
struct Before {
    /// Ports that were in use.
    ports: FxHashSet<u16>,
    /// Names in no folder that were.
    names: FxHashSet<Vec<u8>>,
}

impl Peers {
    fn before(&self) -> &Before {
        self.before.get_or_init(|| {
            let lists = ["tcp", "tcp6", "udp", "udp6"].map(list);
            let ports = lists
                .iter()
                .flat_map(|list| list.lines().skip(1).filter_map(port));
            let sockets = list("unix");
            let names = sockets.lines().filter_map(|line| line.split_once('@'));
            Before {
                ports: ports.collect(),
                names: names.map(|(_, name)| name.as_bytes().to_vec()).collect(),
            }
        })
    }
}

fn list(name: &str) -> String {
    crate::disk::read_to_string(format!("/proc/net/{name}")).unwrap_or_default()
}

/// The local port in a line of the kernel's: `0: 0100007F:1538 …`.
fn port(line: &str) -> Option<u16> {
    let local = line.split_whitespace().nth(1)?;
    u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()
}

impl Calls {
    /// A process talks to another one, or lets others talk to it.
    pub(super) fn talk(&mut self, caller: &Caller<'_>) -> Option<()> {
        let arguments = caller.notice.arguments;
        match caller.notice.number {
            libc::SYS_sendto => self.peer(caller, arguments[4], arguments[5], false),
            libc::SYS_sendmsg => self.message(caller, arguments[1]),
            libc::SYS_sendmmsg if arguments[2] > MOST_MESSAGES => {
                self.seen.doubt("it used the network");
                Some(())
            }
            libc::SYS_sendmmsg => {
                for at in 0..arguments[2] {
                    self.message(caller, arguments[1] + at * WITH_LENGTH)?;
                }
                Some(())
            }
            number => {
                let binds = number == libc::SYS_bind;
                self.peer(caller, arguments[1], arguments[2], binds)
            }
        }
    }

    /// A message, with the address to which it goes if it is sent over no connection.
    fn message(&mut self, caller: &Caller<'_>, header: u64) -> Option<()> {
        let header = bytes(caller.notice.thread, header, HEADER).ok()?;
        let address = u64::from_le_bytes(header[..8].try_into().ok()?);
        let length = u32::from_le_bytes(header[8..12].try_into().ok()?);
        self.peer(caller, address, length.into(), false)
    }

    fn peer(&mut self, caller: &Caller<'_>, address: u64, length: u64, binds: bool) -> Option<()> {
        let length = usize::try_from(length).ok()?.min(LONGEST);
        if address == 0 || length < 2 {
            return Some(());
        }
        let told = bytes(caller.notice.thread, address, length).ok()?;
        let family = i32::from(u16::from_le_bytes([told[0], told[1]]));
        if [libc::AF_INET, libc::AF_INET6].contains(&family) {
            // The call has not happened yet.
            self.peers.before();
        }
        match family {
            libc::AF_UNIX => return self.local(caller, &told[2..], binds),
            // The kernel, or nobody.
            libc::AF_UNSPEC | libc::AF_NETLINK | libc::AF_ALG => return Some(()),
            libc::AF_INET | libc::AF_INET6 if binds => {
                self.peers.serves = true;
                return Some(());
            }
            _ => {}
        }
        let is_here = match family {
            libc::AF_INET => told.get(4) == Some(&127),
            libc::AF_INET6 => told.get(8..24) == Some(&HERE),
            _ => false,
        };
        let port = told
            .get(2..4)
            .map(|port| u16::from_be_bytes([port[0], port[1]]));
        let was_there = port.is_none_or(|port| self.peers.before().ports.contains(&port));
        if !is_here || !self.peers.serves || was_there {
            self.seen.doubt("it used the network");
        }
        Some(())
    }

    /// A socket with a path, or with a name in no folder.
    fn local(&mut self, caller: &Caller<'_>, name: &[u8], binds: bool) -> Option<()> {
        let end = name.find_byte(0).unwrap_or(name.len());
        if end == 0 {
            // Whatever is bound here is not there yet.
            self.peers.before();
            self.peers.serves |= binds;
            let was_there = self
                .peers
                .before()
                .names
                .contains(name.get(1..).unwrap_or_default());
            if !binds && (!self.peers.serves || was_there) {
                self.seen.doubt("it talked to another program");
            }
            return Some(());
        }
        let path = BString::from(&name[..end]);
        let path = match path.starts_with(b"/") {
            true => path,
            false => caller.below(libc::AT_FDCWD, path.as_bstr())?,
        };
        let way = self.paths.follow(path.as_bstr(), true);
        if binds && way.found == Found::Missing {
            self.seen.writes(&way, Write::Changed, fingerprint);
            return Some(());
        }
        self.seen.used(&way, Use::Existence);
        if way.found != Found::Missing && !self.seen.is_own(way.path.as_bstr()) {
            let why = format!("it talked to the program behind {}", way.path);
            self.seen.doubt(why);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_in_use_are_known() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(Peers::default().before().ports.contains(&port));
        let line = "  0: 0100007F:1538 00000000:0000 0A";
        assert_eq!(super::port(line), Some(0x1538));
    }
}
