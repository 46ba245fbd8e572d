package sign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/contract"
	"macaron/internal/errs"
)

// rig is a contract of two files with a key pair.
func rig(t *testing.T) (path, key string, public ed25519.PublicKey) {
	t.Helper()
	dir := t.TempDir()
	full, err := os.ReadFile("../testdata/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	path, key = filepath.Join(dir, "macaron.toml"), filepath.Join(dir, "key")
	write(t, path, strings.Replace(string(full), `text = "Use pipes."`, `file = "s.md"`, 1))
	write(t, filepath.Join(dir, "s.md"), "Use pipes.")
	if public, err = NewKey(key, rand.Reader); err != nil {
		t.Fatal(err)
	}
	return path, key, public
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *contract.Source {
	t.Helper()
	s, err := contract.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func signed(t *testing.T, path, key string) []byte {
	t.Helper()
	private, err := Private(key)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Sign(open(t, path), private, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path+Suffix, string(e))
	return e
}

// Every single altered byte of every file is refused, the signature's too: comments, layout
// and values alike.
func TestOneAlteredByteIsRefused(t *testing.T) {
	path, key, public := rig(t)
	signed(t, path, key)
	trust := Trust{Required: true, Keys: []ed25519.PublicKey{public}}
	if err := trust.Check(path, open(t, path)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, filepath.Join(filepath.Dir(path), "s.md"), path + Suffix} {
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		step := 1 // all of the small files, a part of the contract's own
		if file == path {
			step = 13
		}
		for i := 0; i < len(good); i += step {
			bad := bytes.Clone(good)
			bad[i] ^= 1
			if file == path+Suffix && (good[i] == ' ' || good[i] == '\n') {
				continue // white space of the signature file carries nothing; it may only break it
			}
			write(t, file, string(bad))
			s, err := contract.Open(path)
			if err != nil {
				continue // it is no contract any more
			}
			tried++
			if err := trust.Check(path, s); err == nil {
				t.Fatalf("%s with byte %d altered is taken", file, i)
			}
		}
		if tried == 0 {
			t.Errorf("no altered %s was still a contract", file)
		}
		write(t, file, string(good))
	}
	if err := trust.Check(path, open(t, path)); err != nil {
		t.Errorf("restored: %v", err)
	}
}

func TestWhoIsTrusted(t *testing.T) {
	path, key, public := rig(t)
	other, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	trust := func(keys ...ed25519.PublicKey) error { return Trust{true, keys}.Check(path, open(t, path)) }
	if err := trust(public); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("unsigned: %v", err)
	}
	if err := (Trust{}).Check(path, open(t, path)); err != nil {
		t.Errorf("nothing is demanded: %v", err)
	}
	e := signed(t, path, key)
	if err := trust(other); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Errorf("another key: %v", err)
	}
	if err := trust(); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Errorf("no key: %v", err)
	}
	second := filepath.Join(t.TempDir(), "second")
	if _, err := NewKey(second, rand.Reader); err != nil {
		t.Fatal(err)
	}
	private, err := Private(second)
	if err != nil {
		t.Fatal(err)
	}
	both, err := Sign(open(t, path), private, e)
	if err != nil {
		t.Fatal(err)
	}
	if good, err := Verify(open(t, path), both, []ed25519.PublicKey{public, private.Public().(ed25519.PublicKey)}); err != nil || len(good) != 2 {
		t.Errorf("%v %v", good, err)
	}
}

// A statement about one contract under the signature over another's is refused.
func TestPayloadsAreNotExchanged(t *testing.T) {
	path, key, public := rig(t)
	e := signed(t, path, key)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(text), "max_turns = 12", "max_turns = 90", 1))
	forged, err := statement(open(t, path))
	if err != nil {
		t.Fatal(err)
	}
	var env Envelope
	if err := json.Unmarshal(e, &env); err != nil {
		t.Fatal(err)
	}
	env.Payload = forged
	b, err := json.Marshal(env)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(open(t, path), b, []ed25519.PublicKey{public}); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Errorf("%v", err)
	}
	for name, bad := range map[string]string{"empty": "", "not JSON": "{", "field": `{"payloadType":"` + PayloadType + `","payload":"","signatures":[{"keyid":"","sig":""}],"x":1}`, "twice": `{"payload":"","payload":""}`, "type": `{"payloadType":"x","payload":"","signatures":[{"keyid":"","sig":""}]}`, "none": `{"payloadType":"` + PayloadType + `","payload":"","signatures":[]}`} {
		if _, err := Verify(open(t, path), []byte(bad), []ed25519.PublicKey{public}); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The vector of the DSSE specification.
func TestEncodingOfDSSE(t *testing.T) {
	if got := string(message("http://example.com/HelloWorld", []byte("hello world"))); got != "DSSEv1 29 http://example.com/HelloWorld 11 hello world" {
		t.Errorf("%q", got)
	}
}

func TestKeyFiles(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "k")
	public, err := NewKey(key, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Public(key + ".pub"); err != nil || !again.Equal(public) {
		t.Errorf("%v", err)
	}
	if _, err := NewKey(key, rand.Reader); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("overwritten: %v", err)
	}
	if err := os.Chmod(key, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Private(key); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("readable by the group: %v", err)
	}
	if _, err := Public(key); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("private as public: %v", err)
	}
	if _, err := Private(key + ".none"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("absent: %v", err)
	}
}

// openssl makes keys that we sign with, and takes our signatures and keys.
func TestOpenSSLAgrees(t *testing.T) {
	path, key, _ := rig(t)
	dir := t.TempDir()
	theirs := filepath.Join(dir, "theirs")
	run(t, "genpkey", "-algorithm", "ed25519", "-out", theirs)
	if err := os.Chmod(theirs, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "pkey", "-in", theirs, "-pubout", "-out", theirs+".pub")
	for _, k := range []string{theirs, key} {
		var e Envelope
		if err := json.Unmarshal(signed(t, path, k), &e); err != nil {
			t.Fatal(err)
		}
		public, err := Public(k + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := VerifyFile(path, open(t, path), []ed25519.PublicKey{public}); err != nil {
			t.Error(err)
		}
		write(t, filepath.Join(dir, "message"), string(message(e.PayloadType, e.Payload)))
		write(t, filepath.Join(dir, "sig"), string(e.Signatures[0].Sig))
		run(t, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", k+".pub", "-in", filepath.Join(dir, "message"), "-sigfile", filepath.Join(dir, "sig"))
	}
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("openssl", args...).CombinedOutput(); err != nil {
		t.Fatalf("openssl %q: %v\n%s", args, err, out)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"payloadType":"` + PayloadType + `","payload":"e30=","signatures":[{"keyid":"a","sig":"` + base64.StdEncoding.EncodeToString(make([]byte, 64)) + `"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if e, err := parse(PayloadType, text); err == nil && (e.PayloadType != PayloadType || len(e.Signatures) == 0) {
			t.Fatal("an envelope without a signature")
		}
	})
}
