package exam

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"macaron/internal/bench/ui4a"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

// Rescore scores a run again by the rules of this build, from the evidence that lies in its
// directory, without a browser. Judges, where there are any, answer anew; otherwise the
// answers of the run count. Cases that are no longer there are left out.
func Rescore(ctx context.Context, dir string, cases []*ui4a.Case, judges Judges) (*Run, error) {
	r, err := Load(dir)
	if err != nil {
		return nil, err
	}
	byID := map[string]*ui4a.Case{}
	for _, c := range cases {
		byID[c.ID] = c
	}
	if judges != nil {
		r.Judge = judges.Name()
	}
	kept := r.Cases[:0]
	for _, result := range r.Cases {
		c := byID[result.ID]
		if c == nil {
			continue
		}
		if err := result.rescore(ctx, dir, c, judges); err != nil {
			return nil, err
		}
		kept = append(kept, result)
	}
	if len(kept) == 0 {
		return nil, errs.New(errs.NotFound, "the run in "+dir+" has none of the cases", "macaron bench ui4a --list prints them")
	}
	r.Cases, r.Version = kept, ui4a.Version
	r.sum()
	return r, nil
}

func (r *CaseResult) rescore(ctx context.Context, dir string, c *ui4a.Case, judges Judges) error {
	if r.Failure != "" {
		return nil
	}
	r.Wanted = c.Wants()
	if len(r.Views) == 0 {
		r.Layers = c.Text(r.Answer.Text)
		if !c.Wants() && r.Given {
			r.Layers = c.Unwanted()
		}
		r.whole()
		return nil
	}
	for i := range r.Views {
		v := &r.Views[i]
		e, err := readEvidence(dir, v.Evidence)
		if err != nil {
			return err
		}
		verdicts := v.Verdicts
		if judges != nil && e.Mounted {
			if verdicts, err = judges.Judge(ctx, c, e, picture(dir, e)); err != nil {
				return err
			}
		}
		file := v.Evidence
		*v = viewResult(c.Kept(), e, verdicts)
		v.Evidence = file
	}
	r.mean()
	return nil
}

func readEvidence(dir, name string) (ui4a.Evidence, error) {
	var e ui4a.Evidence
	if name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return e, errs.New(errs.FormatInvalid, "the run in "+dir+" has kept no evidence", "run it with --out")
	}
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return e, errs.Wrap(errs.NotFound, err, "the evidence "+name+" is not there", "")
	}
	if err != nil {
		return e, disk.Error(err, name+" cannot be read")
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, errs.Wrap(errs.FormatInvalid, err, name+" is no evidence", "")
	}
	return e, nil
}

// picture is the first one that was taken of the card; nil when there is none.
func picture(dir string, e ui4a.Evidence) []byte {
	if len(e.Shots) == 0 || !strings.HasPrefix(e.Shots[0], "cases/") || !filepath.IsLocal(filepath.FromSlash(e.Shots[0])) {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.Shots[0])))
	if err != nil {
		return nil
	}
	return b
}
