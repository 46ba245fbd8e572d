package evaluation

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io"
	"io/fs"
	"os"

	"macaron/internal/canonical"
	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// PayloadType names what a signature of an evaluation contract covers.
const PayloadType = "application/vnd.macaron.evaluation.statement.v1+json"

// Statement is what is signed: the bytes of the file, and the contract that they say.
type Statement struct {
	File     ids.Digest `json:"file"`
	Contract ids.Digest `json:"contract"`
}

// Signed is a contract as somebody trusted has signed it.
type Signed struct {
	*Contract
	Digest ids.Digest // of the contract
	File   ids.Digest // of its bytes
	Keys   []string   // identifiers of the trusted keys that have signed it
}

// Sign makes the signature file of a contract's text, or adds to the one before.
func Sign(text []byte, key ed25519.PrivateKey, before []byte) ([]byte, error) {
	_, payload, err := statement(text)
	if err != nil {
		return nil, err
	}
	return sign.Seal(PayloadType, payload, key, before)
}

func statement(text []byte) (*Contract, []byte, error) {
	c, err := Parse(text)
	if err != nil {
		return nil, nil, err
	}
	h, err := c.Hash()
	if err != nil {
		return nil, nil, err
	}
	payload, err := canonical.Bytes(Statement{ids.DigestOf(text), h})
	return c, payload, err
}

// Verify reads a contract's text that a trusted key has signed. A byte that differs from what
// was signed is an error of the code checksum_mismatch, and the loop stops by it.
func Verify(text, envelope []byte, trusted []ed25519.PublicKey) (Signed, error) {
	e, good, err := sign.Unseal(PayloadType, envelope, trusted)
	if err != nil {
		return Signed{}, err
	}
	if len(good) == 0 {
		return Signed{}, changed("no trusted key has signed the evaluation contract")
	}
	c, payload, err := statement(text)
	if err != nil {
		return Signed{}, err
	}
	if !bytes.Equal(e.Payload, payload) {
		return Signed{}, changed("the evaluation contract is not the one that was signed")
	}
	h, err := c.Hash()
	return Signed{c, h, ids.DigestOf(text), good}, err
}

func changed(why string) error {
	return errs.New(errs.ChecksumMismatch, why, "restore the signed file; whoever wants other rules signs a new version with the key of the evaluation, and the loop begins anew under it")
}

// Open is Verify with the files of a path and the signature beside it.
func Open(path string, trusted []ed25519.PublicKey) (Signed, error) {
	text, err := Read(path)
	if err != nil {
		return Signed{}, err
	}
	envelope, err := readFile(path+sign.Suffix, sign.MaxBytes)
	if err != nil {
		return Signed{}, err
	}
	return Verify(text, envelope, trusted)
}

// Read reads the text of a contract's file, signed or not.
func Read(path string) ([]byte, error) { return readFile(path, MaxBytes) }

// readFile reads a plain file, and no more of it than most bytes. A link would let its target
// be changed by whoever may write there.
func readFile(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.New(errs.NotFound, "there is no "+path, "make the evaluation contract and sign it first")
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, errs.New(errs.Forbidden, path+" is not a plain file", "put the file itself there")
	}
	if err != nil {
		return nil, disk.Error(err, path+" cannot be read")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.Error(err, path+" cannot be opened")
	}
	defer f.Close() // read-only
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, errs.Newf(errs.TooLarge, "%s is larger than %d bytes", path, most)
	}
	return text, disk.Error(err, path+" cannot be read")
}
