//! Files that do not fit, and what is said of each.

use gatewood_data::read::{Cifar, read_amat, read_cifar, read_idx, read_pla};

#[test]
fn idx_files() {
    let cases: [(&[u8], &str); 10] = [
        (b"", "the file ends after 0 of the 4 bytes of the header of an IDX file"),
        // Found by fuzzing: no rows, of more bytes than can be counted.
        (
            &[0, 0, 8, 4, 0, 0, 0, 0, 0, 0, 8, 0, 0x9f, 3, 2, 0x10, 0x20, 6, 0, 8],
            "an IDX file of 0 x 2048 x 2667774480 x 537264136 bytes does not fit in memory",
        ),
        (b"PK\x03\x04", "not an IDX file: it starts with the bytes 50 4b 03 04"),
        (&[0, 0, 8, 0], "not an IDX file: it starts with the bytes 00 00 08 00"),
        (
            &[0, 0, 13, 1],
            "an IDX file of unsigned bytes (type 08) was expected, but its values are of type 0d",
        ),
        (
            &[0, 0, 8, 1, 0, 0],
            "the file ends after 2 of the 4 bytes of the sizes in the header of an IDX file",
        ),
        (&[0, 0, 8, 1, 0, 0, 0, 3, 1, 2], "the file ends after 2 of the 3 values of an IDX file"),
        (&[0, 0, 8, 1, 0, 0, 0, 1, 1, 2], "the file goes on after the 1 values of an IDX file"),
        (&[0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 0], "dimension 2 of the IDX file has size 0"),
        (
            &[0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255],
            "an IDX file of 4294967295 x 4294967295 x 4294967295 bytes does not fit in memory",
        ),
    ];
    for (mut file, text) in cases {
        assert_eq!(read_idx(&mut file).unwrap_err().to_string(), text);
    }
    // A header that promises 16 exabytes takes no more memory than the file has.
    let huge = [0, 0, 8, 2, 127, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3];
    assert_eq!(
        read_idx(&mut &huge[..]).unwrap_err().to_string(),
        "the file ends after 3 of the 2147483647 x 4294967295 values of an IDX file"
    );
}

#[test]
fn cifar_files() {
    let cases = [
        (vec![], "the CIFAR file is empty"),
        (
            vec![1; 3072],
            "record 0 of the CIFAR file has 3072 bytes instead of 3073: the file is cut short, or not of this format",
        ),
        (
            vec![1; 3073 + 5],
            "record 1 of the CIFAR file has 5 bytes instead of 3073: the file is cut short, or not of this format",
        ),
        (vec![10; 3073], "record 0 of the CIFAR file has label 10, which is past 9"),
    ];
    for (file, text) in cases {
        let error = read_cifar(&mut &file[..], &|_| true, &mut Cifar::default()).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn pla_files() {
    let wide = format!(".i 40\n.o 1\n.type fr\n{} 1\n", "-".repeat(40));
    let wide_on = format!(".i 40\n.o 1\n{} 1\n", "1".repeat(40));
    let cases = [
        ("", "not a PLA file: no .i line gives the number of inputs"),
        (".i x\n", "line 1: .i must give the number of inputs, 1 to 65536"),
        (".i 0\n", "line 1: .i must give the number of inputs, 1 to 65536"),
        (".i 2\n.o 3\n", "line 2: the file has 3 outputs, but one is wanted (gatewood learn takes several)"),
        (".i 2\n.o\n", "line 2: .o must give the number of outputs"),
        (".i 2\n01 1\n", "line 2: a row comes before .o gave the number of outputs"),
        (".o 1\n01 1\n", "line 2: a row comes before .i gave the number of inputs"),
        (".i 2\n.o 1\n011 1\n", "line 3: 4 digits instead of 2 inputs and 1 output"),
        (".i 2\n.o 1\n0x 1\n", "line 3, digit 2: \"x\" is not 0, 1 or -"),
        (".i 2\n.o 1\n.type dr\n", "line 3: .type must be f, fd or fr"),
        (".i 2\n.o 1\n.pair 3\n", "line 3: .pair is not a known keyword"),
        // Once a panic: rows of four inputs read as rows of two.
        (".i 4\n.o 1\n01-1 -\n.i 2\n", "line 4: a second .i"),
        (".i 2\n.o 1\n.o 1\n", "line 3: a second .o"),
        (".i 2\n.o 1\n.ilb a\n", ".ilb names 1 inputs, but .i says 2"),
        (".i 2\n.o 1\n.type fr\n.e\n", "the PLA file has no rows"),
        (
            &wide,
            "line 4: its 40 inputs \"-\" stand for 2^40 rows, and at most 4194304 rows are made of a file",
        ),
        (
            &wide_on,
            "the file lists on rows alone, so the off rows are all others of 2^40, and at most 4194304 rows are made of a \
             file; list both and say \".type fr\"",
        ),
    ];
    for (file, text) in cases {
        assert_eq!(read_pla(&mut file.as_bytes()).unwrap_err().to_string(), text, "{file}");
    }
    assert_eq!(read_pla(&mut &b".i 2\n\xff\xfe\n"[..]).unwrap_err().to_string(), "line 2 is not text");
}

#[test]
fn amat_files() {
    let cases = [
        ("", "there is nothing in it"),
        ("\n\n", "there is nothing in it"),
        ("1\n", "line 1: one number, where pixels and a label are wanted"),
        (" 1\n", "line 1: 0 pixels, where the first line has 0"),
        ("0 1 1\n0 1\n", "line 2: 1 pixels, where the first line has 2"),
        ("0 -1 1\n", "line 1: \"-1\" is not a pixel from 0 to 1"),
        ("0 nan 1\n", "line 1: \"nan\" is not a pixel from 0 to 1"),
        ("0 1 0.5\n", "line 1: \"0.5\" is not a label from 0 to 255"),
        ("0 1 256\n", "line 1: \"256\" is not a label from 0 to 255"),
    ];
    for (file, text) in cases {
        assert_eq!(read_amat(&mut file.as_bytes()).unwrap_err().to_string(), text, "{file}");
    }
    assert_eq!(read_amat(&mut &b"\xff 1\n"[..]).unwrap_err().to_string(), "line 1: is not UTF-8 text");
    assert_eq!(read_amat(&mut &b"0 1\t 1 2\r\n"[..]).unwrap().bytes, [0, 255, 255]);
}

#[test]
fn pla_files_that_fit() {
    let read = |text: &str| read_pla(&mut text.as_bytes()).unwrap();
    let listed = read(
        "# made by hand\n.i 3\n.o 1\n.ilb a b c\n.ob f\n.type fr\n.p 2\n1-- 1 # three\n001 0\n--- -\n.e\n",
    );
    assert_eq!((listed.inputs.join(""), &*listed.output), ("abc".into(), "f"));
    assert_eq!(listed.classes, [1, 1, 1, 1, 0]);
    assert_eq!(
        (listed.bits.column(0)[0], listed.bits.column(1)[0], listed.bits.column(2)[0]),
        (0b01111, 0b01010, 0b11100)
    );
    // A function: what is not listed is off, what is listed as free is left out.
    let function = read(".i 2\n.o 1\n.type fd\n11 1\n01 -\n");
    assert_eq!(function.classes, [0, 0, 1]);
    assert_eq!((function.bits.column(0)[0], function.bits.column(1)[0]), (0b110, 0b100));
    // Both outputs listed and no type: the listed rows are all there is.
    assert_eq!(read(".i 2\n.o 1\n11 1\n00 0\n").classes, [1, 0]);
    assert_eq!(read(".i 2\n.o 1\n1 1|1\n0 0|0\n").classes, [1, 0]);
}
