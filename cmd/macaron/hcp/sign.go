package hcp

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/contract"
	"macaron/internal/contract/pack"
	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

func newHCPKeygen(e *cli.Env) *cobra.Command {
	return &cobra.Command{Use: "keygen FILE", Short: "Make an ed25519 key pair to sign contracts with: FILE and FILE.pub", Args: cli.Args(1, 1, "the file to write"),
		RunE: func(_ *cobra.Command, given []string) error {
			public, err := sign.NewKey(given[0], rand.Reader)
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(map[string]any{"private": given[0], "public": given[0] + ".pub", "key": sign.KeyID(public)})
			}
			fmt.Fprintf(e.Out, "%s is the private key, for you alone; %s.pub goes to those who check.\n%s\n", given[0], given[0], sign.KeyID(public))
			return nil
		}}
}

func newHCPSign(e *cli.Env) *cobra.Command {
	var key string
	c := &cobra.Command{Use: "sign FILE --key KEY", Short: "Sign a contract: the signature stands beside it in FILE.sig", Args: cli.Args(1, 1, "a contract's file"),
		Long:    "Sign the bytes of a contract's file and of every file that it imports or names. One byte that is altered, a comment's too, makes\nthe signature void. Signatures of other keys over the same bytes are kept.",
		Example: "  macaron hcp keygen release.key\n  macaron hcp sign macaron.toml --key release.key",
		RunE: func(_ *cobra.Command, given []string) error {
			private, err := sign.Private(key)
			if err != nil {
				return err
			}
			s, err := contract.Open(given[0])
			if err != nil {
				return err
			}
			out, err := SignFile(given[0], func(before []byte) ([]byte, error) { return sign.Sign(s, private, before) })
			if err != nil {
				return err
			}
			return e.Wrote(out, map[string]any{"hash": s.Plain(), "files": s.Parts()})
		}}
	c.Flags().StringVar(&key, "key", "", "file of the private key (required)")
	return c
}

// SignFile keeps what a signer makes of the signatures so far beside the file that it signs, and
// says where.
func SignFile(path string, signed func(before []byte) ([]byte, error)) (string, error) {
	out := path + sign.Suffix
	before, err := sign.ReadFile(out)
	if err != nil && errs.CodeOf(err) != errs.NotFound {
		return "", err
	}
	envelope, err := signed(before)
	if err != nil {
		return "", err
	}
	return out, disk.Replace(out, envelope, 0o644)
}

func newHCPVerify(e *cli.Env) *cobra.Command {
	var trusted []string
	c := &cobra.Command{Use: "verify FILE --trusted KEY.pub", Short: "Check a contract's signature: exit code 0 when a trusted key has signed these bytes", Args: cli.Args(1, 1, "a contract's file"),
		RunE: func(_ *cobra.Command, given []string) error {
			s, err := contract.Open(given[0])
			if err != nil {
				return err
			}
			return verified(e, given[0], s, trusted)
		}}
	c.Flags().StringSliceVar(&trusted, "trusted", nil, "files of public keys; those of trusted_contract_keys otherwise")
	return c
}

func verified(e *cli.Env, path string, s *contract.Source, trusted []string) error {
	if len(trusted) == 0 {
		c, err := e.Config()
		if err != nil {
			return err
		}
		trusted = c.Signed.Keys
	}
	keys, err := sign.Publics(trusted)
	if err != nil {
		return err
	}
	good, err := sign.VerifyFile(path, s, keys)
	if err != nil {
		return err
	}
	if e.JSON {
		return e.PrintJSON(map[string]any{"ok": true, "hash": s.Plain(), "keys": good})
	}
	fmt.Fprintf(e.Out, "%s is signed by %s: %s\n", path, strings.Join(good, ", "), s.Plain())
	return nil
}

func newHCPPack(e *cli.Env) *cobra.Command {
	var out string
	c := &cobra.Command{Use: "pack FILE -o PACK", Short: "Put a contract, its files and its signature into one file", Args: cli.Args(1, 1, "a contract's file"),
		RunE: func(_ *cobra.Command, given []string) error {
			s, err := contract.Open(given[0])
			if err != nil {
				return err
			}
			signature, err := sign.ReadFile(given[0] + sign.Suffix)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if err == nil {
				if err := sign.Current(s, signature); err != nil {
					return err
				}
			}
			b, err := pack.Pack(s, signature)
			if err != nil {
				return err
			}
			if out == "" {
				return errs.New(errs.InvalidRequest, "-o is missing", "name the file to write")
			}
			if err := writeNew(out, b); err != nil {
				return err
			}
			return e.Wrote(out, map[string]any{"hash": s.Plain(), "files": s.Parts(), "signed": signature != nil})
		}}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write, which must not exist (required)")
	return c
}

func newHCPUnpack(e *cli.Env) *cobra.Command {
	var out string
	var trusted []string
	c := &cobra.Command{Use: "unpack PACK -o DIR", Short: "Take a contract out of a pack", Args: cli.Args(1, 1, "a pack"),
		Long: "Check a pack whole, then write its files into a new directory. With --trusted nothing is written unless one of the keys has\nsigned the contract.",
		RunE: func(_ *cobra.Command, given []string) error {
			f, err := os.Open(given[0])
			if err != nil {
				return disk.OpenError(err, given[0]+" cannot be opened", "check the path")
			}
			defer f.Close() // read-only
			p, err := pack.Read(f)
			if err != nil {
				return err
			}
			s, err := p.Source()
			if err != nil {
				return err
			}
			if err := packSigned(p, s, trusted); err != nil {
				return err
			}
			if out == "" {
				return errs.New(errs.InvalidRequest, "-o is missing", "name the directory to write")
			}
			path, err := p.Write(out)
			if err != nil {
				return err
			}
			return e.Wrote(path, map[string]any{"hash": s.Plain(), "files": s.Parts(), "signed": p.Signature != nil})
		}}
	c.Flags().StringVarP(&out, "output", "o", "", "directory to write, new or empty (required)")
	c.Flags().StringSliceVar(&trusted, "trusted", nil, "files of public keys, one of which must have signed")
	return c
}

func packSigned(p *pack.Content, s *contract.Source, trusted []string) error {
	if len(trusted) == 0 {
		return nil
	}
	keys, err := sign.Publics(trusted)
	if err != nil {
		return err
	}
	if bytes.TrimSpace(p.Signature) == nil {
		return errs.New(errs.ChecksumMismatch, "the pack has no signature", "sign the contract and pack it again")
	}
	_, err = sign.Verify(s, p.Signature, keys)
	return err
}
