package registry

import (
	"bytes"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
)

// Add checks an adapter directory, copies its revision into the store of a home and
// registers it in the contract file. A server that runs takes it up with the next
// request. The addition's Source is set here.
func Add(home, contractPath, dir string, add Addition) (adapter.Revision, error) {
	rev, err := lora.Inspect(dir)
	if err != nil {
		return rev, err
	}
	rev.Name, rev.Source = add.Name, string(rev.Hash)
	add.Source = rev.Source
	err = rewrite(contractPath, func(text []byte) ([]byte, error) {
		next, err := Insert(text, add, parser(contractPath))
		if err != nil {
			return nil, err
		}
		return next, keep(home, rev, dir)
	})
	return rev, err
}

func keep(home string, rev adapter.Revision, dir string) error {
	s, err := openStore(home)
	if err != nil {
		return err
	}
	defer s.close()
	return s.put(rev.Hash, dir)
}

// Remove takes an adapter out of the contract file. Its stored revision stays, since
// turns of the log may be pinned to it.
func Remove(contractPath, name string) (contract.Adapter, error) {
	var gone contract.Adapter
	err := rewrite(contractPath, func(text []byte) ([]byte, error) {
		if k, err := parser(contractPath)(text); err == nil {
			gone, _ = k.Adapter(name)
		}
		return Delete(text, name, parser(contractPath))
	})
	return gone, err
}

// parser reads texts that are to stand at path, with what they import from there.
func parser(path string) Parser {
	return func(text []byte) (*contract.Contract, error) {
		s, err := contract.ParseFile(path, text)
		if err != nil {
			return nil, err
		}
		return s.Contract, nil
	}
}

// rewrite replaces the contract file, unless somebody else has changed it meanwhile.
func rewrite(path string, change func([]byte) ([]byte, error)) error {
	text, err := contract.Read(path)
	if err != nil {
		return err
	}
	next, err := change(text)
	if err != nil {
		return err
	}
	again, err := contract.Read(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, again) {
		return errs.New(errs.InvalidRequest, path+" was changed by somebody else at the same time", "try again")
	}
	return disk.Replace(path, next, 0o644)
}
