package stage

import (
	"context"
	"errors"
	"slices"
	"strings"

	"macaron/internal/bench/ui4a"
	"macaron/internal/browser"
	words "macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
)

// Album keeps pictures; it gives the name under which one is found.
type Album interface {
	Keep(name string, webp []byte) (string, error)
}

// Card puts a card on screen, uses it, and gives the evidence. An error is the machinery's,
// never the card's.
func (t *Tab) Card(ctx context.Context, c *ui4a.Case, source string, v ui4a.View, album Album) (ui4a.Evidence, error) {
	e := ui4a.Evidence{View: v, Bytes: len(source)}
	if strings.TrimSpace(source) == "" {
		e.Failure = "there is no card"
		return e, nil
	}
	result, findings := compile.Compile(source, compile.Options{})
	e.Source, e.Findings, e.Compiled = string(result.Revision), findings, result.JS != ""
	if !e.Compiled {
		e.Failure = firstError(findings)
		return e, nil
	}
	k := compiled{result: result, source: source, script: ready(result.JS, c)}
	err := t.show(ctx, c, &e, album, func() (*screen, string, error) { return t.mount(k) })
	if slices.ContainsFunc(e.Operated, func(o ui4a.Operated) bool { return o.Role == "tab" && !o.Effect }) {
		e.Behind = source
	}
	return e, err
}

// Twin does the same with a case's twin.
func (t *Tab) Twin(ctx context.Context, c *ui4a.Case, v ui4a.View, album Album) (ui4a.Evidence, error) {
	e := ui4a.Evidence{View: v, Bytes: len(c.Twin), Source: "twin", Compiled: true}
	err := t.show(ctx, c, &e, album, func() (*screen, string, error) {
		x, err := t.mountTwin(c)
		return x, "", err
	})
	return e, errors.Join(err, t.home())
}

func firstError(findings []words.Diagnostic) string {
	for _, d := range findings {
		if d.Severity == words.Error {
			return d.String()
		}
	}
	return "it does not compile"
}

type mounter func() (*screen, string, error)

// show mounts twice: once to look and follow the script, once to try everything. Controls
// are tried on the first of the screens alone.
func (t *Tab) show(ctx context.Context, c *ui4a.Case, e *ui4a.Evidence, album Album, mount mounter) error {
	if err := t.look(e.View, false); err != nil {
		return err
	}
	parts := []func(*ui4a.Case, *ui4a.Evidence, Album, mounter) error{t.first}
	if e.View == ui4a.Views[0] {
		parts = append(parts, t.second)
	}
	for _, part := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := part(c, e, album, mount); err != nil {
			return t.ended(e, err)
		}
		if !e.Mounted {
			return nil
		}
	}
	return nil
}

// ended makes evidence of an error that came because the page has taken the card away, as
// it does with one that hangs.
func (t *Tab) ended(e *ui4a.Evidence, err error) error {
	why, asked := browser.Eval[string](t.page, `globalThis.bench?.stopped ?? ""`)
	if asked != nil || why == "" {
		return err
	}
	e.Mounted, e.Failure = false, "stopped: "+why
	return nil
}

// first is the mount that is looked at and on which the script is played.
func (t *Tab) first(c *ui4a.Case, e *ui4a.Evidence, album Album, mount mounter) error {
	x, why, err := mount()
	if err != nil {
		return err
	}
	defer x.close()
	busy, err := x.doc.Processor()
	if err != nil {
		return err
	}
	e.Mounted, e.Failure, e.TaskMS = why == "", why, (busy-x.busy).Seconds()*1000
	if e.Events = x.doc.Events(); !e.Mounted {
		return nil
	}
	shot := func(name string) error { return x.keep(album, e, c, name) }
	if err := errors.Join(x.survey(c, e), shot("start"), x.audit(e)); err != nil {
		return err
	}
	if e.View == ui4a.Views[0] {
		if err := x.widths(e); err != nil {
			return err
		}
	}
	if e.Steps, err = x.walk(c, shot); err != nil {
		return err
	}
	e.Events = x.doc.Events()
	return x.told(e)
}

// told takes what has left the card, on purpose or by the way.
func (x *screen) told(e *ui4a.Evidence) error {
	sent, err := x.sent()
	if err != nil {
		return err
	}
	for _, a := range sent {
		if a.Reason == "no-gesture" {
			e.Stray = append(e.Stray, a)
		} else {
			e.Actions = append(e.Actions, a)
		}
	}
	if x.surface == "" {
		return nil
	}
	troubles, err := browser.Eval[[]struct{ Kind, Model string }](x.tab.page, "bench.troubles")
	for _, m := range troubles {
		e.Told = append(e.Told, m.Model)
		if strings.Contains(m.Model, "came by itself") {
			e.Stray = append(e.Stray, ui4a.Sent{Outcome: "refused", Reason: "no-gesture"})
		}
	}
	if err != nil {
		return err
	}
	e.PaintMS, err = browser.Eval[float64](x.tab.page, "bench.paintMS")
	return err
}

// second is the mount on which everything is tried.
func (t *Tab) second(_ *ui4a.Case, e *ui4a.Evidence, _ Album, mount mounter) error {
	x, why, err := mount()
	if err != nil {
		return err
	}
	defer x.close()
	if why != "" {
		e.Again = "not mounted: " + why
		return nil
	}
	now, err := x.state()
	if err != nil {
		return err
	}
	e.Again = now.Hash
	before, err := x.broken()
	if err != nil {
		return err
	}
	if e.Keyboard, err = x.tabs(); err != nil {
		return err
	}
	done, err := x.cover(&e.Keyboard)
	if err != nil {
		return err
	}
	e.Operated, e.Seen = done.results(), done.texts
	e.Shaken = len(now.Widgets) > 0
	if e.Shaken {
		return x.strain(e, now.Widgets, before, mount)
	}
	return x.told(e)
}

func (x *screen) keep(album Album, e *ui4a.Evidence, c *ui4a.Case, name string) error {
	if album == nil {
		return nil
	}
	picture, err := x.shoot()
	if err != nil {
		return err
	}
	file, err := album.Keep(c.ID+"/"+stepFile(e.View, name), picture)
	e.Shots = append(e.Shots, file)
	return err
}

// Problems tells what keeps a card from being shown, or from being used by everybody: what
// is sent back to who wrote it.
func (t *Tab) Problems(c *ui4a.Case, source string) ([]string, error) {
	var problems []string
	result, findings := compile.Compile(source, compile.Options{})
	for _, d := range findings {
		if d.Severity == words.Error {
			problems = append(problems, d.String())
		}
	}
	if result.JS == "" || len(problems) > 0 {
		return problems, nil
	}
	e := ui4a.Evidence{View: ui4a.Views[0]}
	if err := t.look(e.View, false); err != nil {
		return nil, err
	}
	x, why, err := t.mount(compiled{result: result, source: source, script: ready(result.JS, c)})
	if err != nil {
		return nil, err
	}
	defer x.close()
	if why != "" {
		return []string{"it does not run: " + why}, nil
	}
	if problems, err = x.broken(); err != nil {
		return nil, err
	}
	if err := x.audit(&e); err != nil {
		return nil, err
	}
	for _, v := range e.Axe {
		if v.Impact == "serious" || v.Impact == "critical" {
			problems = append(problems, "accessibility, "+v.ID+": "+v.Help+" ("+v.Target+")")
		}
	}
	return problems, nil
}
