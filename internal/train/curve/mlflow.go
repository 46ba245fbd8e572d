package curve

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// MLflow's numbers for how a run is.
const (
	running  = 1
	finished = 3
	killed   = 5
)

// status is how a run is: one that does not train any more and is not at the step that it had
// planned was stopped.
func status(last Line, trains bool) int {
	switch {
	case trains:
		return running
	case last["step"] < last["planned"]:
		return killed
	}
	return finished
}

// MLflow writes a run into a tree of MLflow's file store, under the experiment 0: a directory
// that `mlflow ui --backend-store-uri` reads. The same run gives the same directory, whose
// metrics are replaced; what the tree says of the experiment stays. A run that still trains has
// no end there; one that was stopped before its planned end is killed.
func MLflow(root, run string, lines []Line, trains bool) (dir string, err error) {
	if len(lines) == 0 {
		return "", errs.New(errs.NotFound, "the run "+errs.Clip(run)+" has no metrics", "they come with its first optimizer step")
	}
	sum := sha256.Sum256([]byte(run))
	id := hex.EncodeToString(sum[:16])
	dir = filepath.Join(root, "0", id)
	first, last := millis(lines[0]), millis(lines[len(lines)-1])
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	end := strconv.FormatInt(last, 10)
	if trains {
		end = "null"
	}
	files := map[string]string{
		filepath.Join(dir, "meta.yaml"): fmt.Sprintf("artifact_uri: %q\nend_time: %s\nentry_point_name: ''\nexperiment_id: '0'\nlifecycle_stage: active\nrun_id: %s\nrun_name: %q\nrun_uuid: %s\nsource_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: %d\nstatus: %d\ntags: []\nuser_id: macaron\n",
			"file://"+abs+"/0/"+id+"/artifacts", end, id, run, id, first, status(lines[len(lines)-1], trains)),
		filepath.Join(dir, "tags", "mlflow.runName"): run,
	}
	experiment := filepath.Join(root, "0", "meta.yaml")
	if _, err := os.Lstat(experiment); errors.Is(err, os.ErrNotExist) {
		files[experiment] = fmt.Sprintf("artifact_location: %q\ncreation_time: %d\nexperiment_id: '0'\nlast_update_time: %d\nlifecycle_stage: active\nname: Default\n", "file://"+abs+"/0", first, last)
	}
	for name, text := range series(lines) {
		files[filepath.Join(dir, "metrics", name)] = text
	}
	for _, empty := range []string{"artifacts", "params"} {
		if err := os.MkdirAll(filepath.Join(dir, empty), 0o700); err != nil {
			return "", disk.Error(err, dir+" cannot be made")
		}
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", disk.Error(err, path+" cannot be made")
		}
		if err := disk.Replace(path, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func millis(l Line) int64 { return int64(l["time"] * 1000) }

// apart are the numbers of a line that are not measured.
var apart = map[string]bool{"step": true, "time": true, "planned": true, "resumed": true}

// series are the files of metrics: "timestamp value step" of each line that has one.
func series(lines []Line) map[string]string {
	texts := map[string]*strings.Builder{}
	for _, l := range lines {
		var names []string
		for name := range l {
			if !apart[name] && safe(name) {
				names = append(names, name)
			}
		}
		sort.Strings(names)
		for _, name := range names {
			if texts[name] == nil {
				texts[name] = &strings.Builder{}
			}
			fmt.Fprintf(texts[name], "%d %s %d\n", millis(l), strconv.FormatFloat(l[name], 'g', -1, 64), int64(l["step"]))
		}
	}
	out := map[string]string{}
	for name, b := range texts {
		out[name] = b.String()
	}
	return out
}

// safe tells whether a metric may name a file; MLflow takes letters, digits and these.
func safe(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. ") == "" && strings.Trim(name, ".") != ""
}
