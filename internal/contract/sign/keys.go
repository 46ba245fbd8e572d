package sign

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

const maxKey = 16 << 10

// NewKey makes a key pair: path (PKCS #8 in PEM, for its owner alone) and path.pub (PKIX in
// PEM). Neither may exist.
func NewKey(path string, random io.Reader) (ed25519.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	pub, err := PublicPEM(public)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{path, path + ".pub"} {
		if _, err := os.Lstat(name); err == nil {
			return nil, errs.New(errs.InvalidRequest, name+" exists", "name another file")
		}
	}
	if err := disk.Replace(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return nil, err
	}
	return public, disk.Replace(path+".pub", pub, 0o644)
}

// PublicPEM is a public key as Public reads it.
func PublicPEM(key ed25519.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), err
}

// Private reads a private key. Others must not be able to read its file.
func Private(path string) (ed25519.PrivateKey, error) {
	if path == "" {
		return nil, errs.New(errs.InvalidRequest, "no private key is named", "name its file; `macaron hcp keygen FILE` makes one").In("key")
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, errs.New(errs.Forbidden, fmt.Sprintf("the key %s can be read by others (mode %04o)", path, info.Mode().Perm()), "chmod 600 "+path+", and make a new key if somebody may have read it")
	}
	der, err := read(path, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	private, ok := key.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, notAKey(path, "private", err)
	}
	return private, nil
}

// Public reads a public key.
func Public(path string) (ed25519.PublicKey, error) {
	der, err := read(path, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	public, ok := key.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, notAKey(path, "public", err)
	}
	return public, nil
}

// Publics reads several.
func Publics(paths []string) ([]ed25519.PublicKey, error) {
	var keys []ed25519.PublicKey
	for _, p := range paths {
		k, err := Public(p)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func read(path, kind string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.OpenError(err, "the key "+path+" cannot be opened", "make one with macaron hcp keygen")
	}
	defer f.Close() // read-only
	text, err := io.ReadAll(io.LimitReader(f, maxKey))
	if err != nil {
		return nil, disk.Error(err, "the key "+path+" cannot be read")
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, notAKey(path, kind, nil)
	}
	return block.Bytes, nil
}

func notAKey(path, kind string, err error) error {
	return &errs.Error{Code: errs.FormatInvalid, Message: fmt.Sprintf("%s holds no %s ed25519 key in PEM", path, kind), Next: "make one with macaron hcp keygen, or openssl genpkey -algorithm ed25519", Err: err}
}
