//! SipHash-1-3 with 128 bits, over words. Everything is written in whole words
//! and texts begin with their length, so that no two contents write the same.

/// 16 bytes that stand for a value.
pub type Digest = [u64; 2];

#[derive(Clone)]
pub struct Hasher([u64; 4]);

impl Hasher {
    /// `tag` tells what kind of thing is hashed.
    pub const fn new(tag: &str) -> Hasher {
        let mut hasher = Hasher([
            0x736f_6d65_7073_6575,
            0x646f_7261_6e64_6f6d ^ 0xee,
            0x6c79_6765_6e65_7261,
            0x7465_6462_7974_6573,
        ]);
        hasher.bytes(tag.as_bytes());
        hasher
    }

    #[inline]
    pub const fn word(&mut self, word: u64) {
        self.0[3] ^= word;
        self.round();
        self.0[0] ^= word;
    }

    pub const fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let mut rest = bytes;
        while let Some((chunk, more)) = rest.split_first_chunk() {
            self.word(u64::from_le_bytes(*chunk));
            rest = more;
        }
        if let Some((last, first)) = rest.split_last() {
            let (mut word, mut rest) = (*last as u64, first);
            while let Some((last, first)) = rest.split_last() {
                word = word << 8 | *last as u64;
                rest = first;
            }
            self.word(word);
        }
    }

    #[inline]
    pub fn digest(&mut self, digest: Digest) {
        self.word(digest[0]);
        self.word(digest[1]);
    }

    pub fn finish(mut self) -> Digest {
        self.0[2] ^= 0xee;
        (0..3).for_each(|_| self.round());
        let first = self.0.iter().fold(0, |all, part| all ^ part);
        self.0[1] ^= 0xdd;
        (0..3).for_each(|_| self.round());
        [first, self.0.iter().fold(0, |all, part| all ^ part)]
    }

    #[inline]
    const fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.0;
        a = a.wrapping_add(b);
        b = b.rotate_left(13) ^ a;
        a = a.rotate_left(32);
        c = c.wrapping_add(d);
        d = d.rotate_left(16) ^ c;
        a = a.wrapping_add(d);
        d = d.rotate_left(21) ^ a;
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        c = c.rotate_left(32);
        self.0 = [a, b, c, d];
    }
}

/// The digest of one text.
pub fn of_text(tag: &str, text: &[u8]) -> Digest {
    let mut hasher = Hasher::new(tag);
    hasher.bytes(text);
    hasher.finish()
}

/// What an object is called after its place in memory.
pub fn of_address(address: usize) -> Digest {
    let mut hasher = const { Hasher::new("address") };
    hasher.word(address as u64);
    hasher.finish()
}

/// Hashes addresses, names and digests for tables: one multiplication for each word.
#[derive(Default)]
pub struct AddressHasher(u64);

impl std::hash::Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.write_u64(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
        }
        let rest = chunks.remainder().iter();
        let rest = rest.fold(1, |word, byte| word << 8 | u64::from(*byte));
        self.write_u64(rest);
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

type Build = std::hash::BuildHasherDefault<AddressHasher>;
pub type ByAddress<T> = std::collections::HashMap<usize, T, Build>;
pub type ByText<T> = std::collections::HashMap<Vec<u8>, T, Build>;
pub type Texts = std::collections::HashSet<Vec<u8>, Build>;
pub type Digests = std::collections::HashSet<Digest, Build>;
