package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/world"
	"macaron/test/forge/rig"
)

// suite is the sealed tasks that every champion is measured on: some of each family that the
// evaluation contract seals, of seeds that follow from the hashes of everything that was settled
// before. They are drawn once, by the first arm, and kept beside the results. The loop makes tasks
// of other families alone, and the gate's sealed tests are of the evaluator's own seeds.
type suite struct {
	Schema string     `json:"schema"`
	Hashes rig.Hashes `json:"hashes"` // that drew them
	Start  ids.Digest `json:"start"`  // the declared start; hashes.contract, unless it was drawn by one with whole paths
	Tasks  []string   `json:"tasks"`
}

// suiteSchema is that of the file.
const suiteSchema = "macaron.sealed/1"

// sealed reads the suite, or draws it. One that was drawn for another start, model, catalogue or
// evaluation contract is refused: champions of different starts are not compared.
func (l lab) sealed(now rig.Hashes, splits evaluation.Splits) (suite, error) {
	path := filepath.Join(filepath.Dir(l.dir), "sealed.json")
	s, err := readSuite(path)
	if errors.Is(err, os.ErrNotExist) {
		return l.newSuite(path, now, splits)
	}
	was := s.Hashes
	was.Contract = s.Start
	if err == nil {
		err = now.Same(was, path)
	}
	return s, err
}

func readSuite(path string) (s suite, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return s, disk.Error(err, path+" cannot be read")
	}
	if err := json.Unmarshal(raw, &s); err != nil || s.Schema != suiteSchema {
		return s, errs.Newf(errs.FormatInvalid, "%s is no sealed suite", path)
	}
	return s, nil
}

func (l lab) newSuite(path string, now rig.Hashes, splits evaluation.Splits) (suite, error) {
	s := suite{Schema: suiteSchema, Hashes: now, Start: now.Contract}
	var err error
	if s.Tasks, err = draw(now, splits, l.perFamily); err != nil {
		return s, err
	}
	raw, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return s, err
	}
	return s, disk.Replace(path, append(raw, '\n'), 0o644)
}

// draw names perFamily tasks of each sealed family.
func draw(h rig.Hashes, splits evaluation.Splits, perFamily int) (names []string, err error) {
	for _, w := range rig.Worlds {
		for _, name := range w.Families() {
			if splits.Of(w.Name(), name) != evaluation.Sealed {
				continue
			}
			for n := range perFamily {
				t, err := rig.Draw(h, "compounding", evaluation.Family{World: w.Name(), Name: name}, 0, n)
				if err != nil {
					return nil, err
				}
				names = append(names, t.ID)
			}
		}
	}
	return names, nil
}

// items makes the tasks again.
func (s suite) items() (out []mindforge.Task, err error) {
	for _, name := range s.Tasks {
		t, err := world.Again(rig.Worlds, name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}
