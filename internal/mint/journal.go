package mint

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/gob"
	"errors"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// inline is how many bytes of a body or a result lie in the store itself; more is a blob.
const inline = 256 << 10

// maxBody bounds what is read back of a body or a result.
const maxBody = 1 << 30

// sealed begins an entry whose SHA-256 stands before it. Entries of builds before have none,
// and begin with the length of their first message, which is not 0.
const sealed = "\x00sum"

// pack writes a value as the journal keeps it: a database looks after its pages, not after the
// bytes of a value.
func pack(v any) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, len(sealed)+sha256.Size))
	err := gob.NewEncoder(b).Encode(v)
	out := b.Bytes()
	sum := sha256.Sum256(out[len(sealed)+sha256.Size:])
	copy(out[copy(out, sealed):], sum[:])
	return out, err
}

// unpack reads all of an entry or nothing of it.
func unpack[T any](b []byte) (v T, err error) {
	if rest, ok := bytes.CutPrefix(b, []byte(sealed)); ok {
		if len(rest) < sha256.Size || sha256.Sum256(rest[sha256.Size:]) != [sha256.Size]byte(rest[:sha256.Size]) {
			return v, damaged(nil)
		}
		b = rest[sha256.Size:]
	}
	var all T
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&all); err != nil {
		return v, damaged(err)
	}
	return all, nil
}

func damaged(cause error) error {
	return errs.Wrap(errs.FormatInvalid, cmp.Or(cause, errSum), "an entry of the journal is damaged", "restore the home from a backup, and check the disk; an entry of a newer build needs that build")
}

var errSum = errors.New("its bytes are not those that were written")

// lost tells whether how an operation was asked cannot be known any more, and what its client
// is told then. The others go on.
func lost(op ledger.Op, err error) error {
	switch errs.CodeOf(err) {
	case errs.FormatInvalid, errs.ChecksumMismatch, errs.NotFound:
		return errs.Wrap(errs.Internal, err, "what the journal keeps of "+op.ID+" is damaged: it was not carried out", "send it again, with a new number")
	}
	return nil
}

// lay puts bytes where they belong: small ones into the row, others into a blob.
func (s *Service) lay(b []byte) ([]byte, ids.Digest, error) {
	if len(b) <= inline {
		return b, "", nil
	}
	d, err := s.o.Blobs.PutBytes(b)
	return nil, d, err
}

func (s *Service) fetch(b []byte, d ids.Digest) ([]byte, error) {
	if d == "" {
		return b, nil
	}
	return s.o.Blobs.Bytes(d, maxBody)
}

// body is an operation as it is journaled: the one of its kind.
type body struct {
	Create  *CreateModel
	Forward *Forward
	Step    *OptimStep
	Save    *Save
	Sampler *SaveSampler
	Load    *Load
	Unload  bool
	Refused *Refused
	Sample  *Sample
	Seed    uint64 // of Sample

}
