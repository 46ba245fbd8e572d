package app

import (
	"net/http"
	"sync"

	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/obs"
)

// inForce are the settings as they are, and the way to read them again.
type inForce struct {
	mu   sync.Mutex
	now  config.Config
	read func() (config.Config, error)
}

// Reloaded says what reading the settings again has changed, by the names of the settings.
type Reloaded struct {
	Changed []string `json:"changed"` // in force now
	Restart []string `json:"restart"` // other than at the start, and taken up only by another one
}

// Reload reads the settings again and takes up what can change while it runs. What cannot be
// read or used leaves everything as it was.
func (a *App) Reload() (Reloaded, error) {
	a.settings.mu.Lock()
	defer a.settings.mu.Unlock()
	out, err := a.reread()
	a.metrics.Reload(err == nil)
	if err != nil {
		a.log.Error("the settings cannot be used; those before stay in force", "err", err)
		return out, err
	}
	a.log.Info("settings read again", "changed", out.Changed, "restart", out.Restart)
	return out, nil
}

func (a *App) reread() (Reloaded, error) {
	out := Reloaded{Changed: []string{}, Restart: []string{}}
	if a.settings.read == nil {
		return out, errs.New(errs.Unsupported, "this process does not read its settings again", "restart it")
	}
	next, err := a.settings.read()
	if err != nil {
		return out, err
	}
	for _, c := range config.Diff(a.settings.now, next) {
		if c.When == config.OnReload && !a.onlyAtStart(c.Key, next) {
			out.Changed = append(out.Changed, c.Key)
		}
	}
	for _, c := range config.Diff(a.cfg, next) { // from the start: what waits for a restart waits on
		if c.When == config.AtStart || a.onlyAtStart(c.Key, next) {
			out.Restart = append(out.Restart, c.Key)
		}
	}
	a.take(a.settings.now, next)
	a.settings.now = next
	return out, nil
}

// onlyAtStart reports whether a setting that can usually change cannot here: the embedded
// engine is not put in the place of engines below while it runs, nor they in its.
func (a *App) onlyAtStart(key string, next config.Config) bool {
	if _, below := below[key]; below {
		return len(a.cfg.Below()) == 0 || len(next.Below()) == 0
	}
	return key == "log.level" && a.level == nil
}

// below are the settings of the engines below.
var below = map[string]bool{
	"upstream.url": true, "upstream.key_file": true, "upstream.key": true, "upstream.dialect": true, "upstream.models": true,
	"upstream.timeout": true, "engines": true,
}

// take puts the settings that can change in force.
func (a *App) take(before, next config.Config) {
	if a.level != nil {
		a.level.Set(obs.Level(next.Log.Level))
	}
	a.queue.Resize(next.Queue.Running, next.Queue.Waiting)
	a.policy.Store(policyOf(next))
	d := doorOf(next)
	d.anyHost = !a.cfg.Loopback() && len(next.Door.Hosts) == 0 // the listener is that of the start
	a.door.Store(d)
	a.setPrices(next)
	a.takeEngines(before, next)
}

// takeEngines speaks to other engines from the next call on; calls that have begun go on.
func (a *App) takeEngines(before, next config.Config) {
	differ := false
	for _, c := range config.Diff(before, next) {
		differ = differ || below[c.Key] && !a.onlyAtStart(c.Key, next)
	}
	if !differ {
		return
	}
	old := newLate()
	old.set(a.generator.swap(a.openFleet(next.Below())), nil)
	if err := old.Close(); err != nil {
		a.log.Warn("the engines before could not be let go", "err", err)
	}
}

// reload answers POST /admin/reload with what has changed.
func (a *App) reload(w http.ResponseWriter, _ *http.Request) {
	out, err := a.Reload()
	if err != nil {
		a.fail(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}
