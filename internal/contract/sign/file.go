package sign

import (
	"crypto/ed25519"
	"io"
	"os"

	"macaron/internal/contract"
	"macaron/internal/disk"
)

// Trust is who may sign the contracts of a machine. The zero one trusts everything, signed
// or not.
type Trust struct {
	Required bool
	Keys     []ed25519.PublicKey
}

// Check refuses a contract that nobody trusted has signed, where that is required. path is
// that of the contract's file; its signature stands beside it.
func (t Trust) Check(path string, s *contract.Source) error {
	if !t.Required {
		return nil
	}
	_, err := VerifyFile(path, s, t.Keys)
	return err
}

// VerifyFile is Verify with the signature beside the contract's file.
func VerifyFile(path string, s *contract.Source, trusted []ed25519.PublicKey) ([]string, error) {
	envelope, err := ReadFile(path + Suffix)
	if err != nil {
		return nil, err
	}
	return Verify(s, envelope, trusted)
}

// ReadFile reads a signature file.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.OpenError(err, "the contract's signature "+path+" cannot be opened", "sign the contract with macaron hcp sign; this machine takes signed contracts only where require_signed_contract is set")
	}
	defer f.Close() // read-only
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	return text, disk.Error(err, "the signature "+path+" cannot be read")
}
