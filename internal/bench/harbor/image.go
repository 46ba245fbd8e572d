package harbor

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"macaron/internal/errs"
)

// app is the one directory of an environment that differs from this machine's system.
const app = "/app"

// within reports whether a clean path lies in /app.
func within(p string) bool { return path.Clean(p) == app || strings.HasPrefix(path.Clean(p), app+"/") }

// image is what a Dockerfile comes to here: copies into /app, commands to run there, a
// directory to work in and variables.
type image struct {
	copies  [][2]string // file of environment/, path in the environment
	run     []string
	workdir string
	env     map[string]string
	pip     bool // Python packages are part of it
}

// systems are bases that this machine's own system stands for.
var systems = regexp.MustCompile(`^(docker\.io/)?(library/)?(debian|ubuntu|python)(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$`)

// readImage reads a Dockerfile of the subset: FROM a Debian-like system, COPY and ADD of
// local files into /app, WORKDIR, ENV, RUN, and what says nothing about files.
func readImage(text string, packages Packages) (*image, error) {
	im := &image{workdir: app, env: map[string]string{}}
	text = strings.ReplaceAll(text, "\\\n", " ")
	from := 0
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		var err error
		switch strings.ToUpper(verb) {
		case "FROM":
			if from++; from > 1 || !systems.MatchString(rest) {
				err = fmt.Errorf("FROM %s", rest)
			}
		case "WORKDIR":
			im.workdir = absolute(im.workdir, rest)
			if !within(im.workdir) {
				err = fmt.Errorf("WORKDIR %s outside of /app", rest)
			}
		case "COPY", "ADD":
			err = im.copy(rest)
		case "ENV":
			err = im.variables(rest)
		case "RUN":
			err = im.command(rest, packages)
		case "CMD", "LABEL", "EXPOSE", "MAINTAINER":
		default:
			err = fmt.Errorf("the instruction %s", verb)
		}
		if err != nil {
			return nil, errs.New(errs.Unsupported, fmt.Sprintf("Dockerfile, instruction %d: %s is not reproduced here", n+1, errs.Clip(err.Error())), "use Harbor itself for it")
		}
	}
	return im, nil
}

func absolute(at, p string) string {
	if !path.IsAbs(p) {
		p = path.Join(at, p)
	}
	return path.Clean(p)
}

// copy notes a COPY. Ownership is the sandbox's.
func (im *image) copy(rest string) error {
	var words []string
	for _, w := range strings.Fields(rest) {
		switch {
		case strings.HasPrefix(w, "--chown=") || strings.HasPrefix(w, "--chmod="):
		case strings.HasPrefix(w, "--") || strings.ContainsAny(w, `[]*?"'$`) || strings.Contains(w, "://"):
			return fmt.Errorf("COPY with %s", w)
		default:
			words = append(words, w)
		}
	}
	if len(words) < 2 {
		return fmt.Errorf("COPY %s", rest)
	}
	last := words[len(words)-1]
	to := absolute(im.workdir, last)
	if !within(to) {
		return fmt.Errorf("COPY to %s outside of /app", last)
	}
	for _, from := range words[:len(words)-1] {
		if !filepath.IsLocal(from) {
			return fmt.Errorf("COPY of %s", from)
		}
		im.copies = append(im.copies, [2]string{from, to})
	}
	if len(words) > 2 || strings.HasSuffix(last, "/") || to == app {
		for i := len(im.copies) - len(words) + 1; i < len(im.copies); i++ {
			im.copies[i][1] += "/" // into that directory
		}
	}
	return nil
}

func (im *image) variables(rest string) error {
	for _, w := range strings.Fields(rest) {
		k, v, ok := strings.Cut(w, "=")
		if !ok || strings.ContainsAny(v, `"'$\`) {
			return fmt.Errorf("ENV %s", rest)
		}
		im.env[k] = v
	}
	return nil
}

var packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+$`)

// command notes a RUN. Installing packages is checked instead of done: this machine must
// have those of Debian, and the given directory those of Python. Everything else is run in
// the sandbox, without network.
func (im *image) command(rest string, packages Packages) error {
	var left []string
	for _, part := range strings.Split(rest, "&&") {
		words := strings.Fields(part)
		switch {
		case len(words) == 0 || strings.Join(words, " ") == "rm -rf /var/lib/apt/lists/*" || strings.Join(words[:min(2, len(words))], " ") == "apt-get update" || strings.Join(words[:min(2, len(words))], " ") == "apt-get clean":
		case len(words) > 2 && words[0] == "apt-get" && words[1] == "install":
			for _, w := range words[2:] {
				if strings.HasPrefix(w, "-") {
					continue
				}
				if _, err := os.Stat("/usr/share/doc/" + w); err != nil || !packageName.MatchString(w) { // every Debian package has one
					return fmt.Errorf("the package %s, which this machine does not have,", w)
				}
			}
		case pipInstall.MatchString(strings.Join(words, " ")):
			if err := packages.check(pipInstall.FindStringSubmatch(strings.Join(words, " "))[1]); err != nil {
				return err
			}
			im.pip = true
		default:
			left = append(left, strings.TrimSpace(part))
		}
	}
	if len(left) > 0 {
		im.run = append(im.run, strings.Join(left, " && "))
	}
	return nil
}
