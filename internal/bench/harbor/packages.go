package harbor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/repl"
)

// Packages is a directory of Python packages, as pip install --target makes one, that
// stands for those of the image. The verifier alone sees it, read-only. "" is none.
type Packages string

// OpenPackages is the directory at a path, past links.
func OpenPackages(dir string) (Packages, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", disk.Error(err, dir+" cannot be found")
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return "", errs.New(errs.InvalidRequest, dir+" is no directory", "make one: /usr/bin/python3 -m pip install --target DIR PACKAGE...")
	}
	return Packages(dir), nil
}

// where it is seen.
const packages = "/packages"

// show adds the packages to a sandbox: modules and programs.
func (p Packages) show(env map[string]string) []repl.Bind {
	if p == "" {
		return nil
	}
	env["PYTHONPATH"] = strings.TrimSuffix(packages+":"+env["PYTHONPATH"], ":")
	env["PATH"] = packages + "/bin:" + cmp.Or(env["PATH"], "/usr/local/bin:/usr/bin:/bin")
	return []repl.Bind{{From: string(p), To: packages}}
}

// pipInstall is the part of a command behind pip install, which is checked, not done.
var pipInstall = regexp.MustCompile(`^(?:python3? -m )?pip3? install (.+)$`)

// harmless are options that say nothing about what is installed.
var harmless = []string{"--no-cache-dir", "--break-system-packages", "-q", "--quiet", "--no-input"}

// separators are alike in the names of Python packages (PEP 503).
var separators = regexp.MustCompile(`[-_.]+`)

func normal(name string) string { return separators.ReplaceAllString(strings.ToLower(name), "-") }

// check reports what of a pip install is not there: NAME or NAME==VERSION.
func (p Packages) check(words string) error {
	var have []string
	if p != "" {
		entries, err := os.ReadDir(string(p))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if info, ok := strings.CutSuffix(e.Name(), ".dist-info"); ok {
				name, version, _ := strings.Cut(info, "-") // there is no - in a name here: PEP 427
				have = append(have, normal(name), normal(name)+"=="+version)
			}
		}
	}
	for _, w := range strings.Fields(words) {
		w = strings.Trim(w, `"'`)
		name, version, pinned := strings.Cut(w, "==")
		if pinned {
			version = "==" + version
		}
		if !slices.Contains(harmless, w) && !slices.Contains(have, normal(name)+version) {
			return fmt.Errorf("pip install of %s, which is not in --packages,", w)
		}
	}
	return nil
}
