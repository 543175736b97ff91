//! What a page says of its own script, so that a browser runs no other: SHA-256, in Base64.

/// The first words of the digest, and what is added in each of the 64 steps: fractions of roots of primes.
const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The first 32 bits of the fractions of the cube roots of the first 64 primes, found in whole numbers.
fn steps() -> [u32; 64] {
    let mut steps = [0; 64];
    let is_prime =
        |number: &u128| (2..*number).take_while(|d| d * d <= *number).all(|d| !number.is_multiple_of(d));
    for (step, prime) in steps.iter_mut().zip((2u128..).filter(is_prime)) {
        // The cube root of the prime, times 2^32, rounded down.
        let (mut low, mut high) = (0u128, 1 << 36);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if middle * middle * middle <= prime << 96 { low = middle } else { high = middle }
        }
        *step = low as u32;
    }
    steps
}

/// The SHA-256 digest of some bytes.
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let steps = steps();
    let mut message = bytes.to_vec();
    message.push(0x80);
    message.resize((message.len() + 8).next_multiple_of(64), 0);
    let end = message.len() - 8;
    message[end..].copy_from_slice(&(8 * bytes.len() as u64).to_be_bytes());
    let mut state = START;
    for block in message.as_chunks::<64>().0 {
        let mut words = [0u32; 64];
        for (word, four) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*four);
        }
        for at in 16..64 {
            let (a, b) = (words[at - 15], words[at - 2]);
            let first = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let second = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            words[at] = words[at - 16].wrapping_add(first).wrapping_add(words[at - 7]).wrapping_add(second);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (step, word) in steps.iter().zip(words) {
            let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let first =
                h.wrapping_add(sum).wrapping_add(e & f ^ !e & g).wrapping_add(*step).wrapping_add(word);
            let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let second = sum.wrapping_add(a & b ^ a & c ^ b & c);
            (h, g, f, e) = (g, f, e, d.wrapping_add(first));
            (d, c, b, a) = (c, b, a, first.wrapping_add(second));
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(add);
        }
    }
    let mut digest = [0; 32];
    for (four, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *four = word.to_be_bytes();
    }
    digest
}

/// Bytes in Base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word =
            three.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let hex = |bytes: &[u8]| sha256(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(long), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        assert_eq!(hex(&[b'a'; 1000]), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
    }

    #[test]
    fn base64_is_padded() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }
}
