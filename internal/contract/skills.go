package contract

import "slices"

// Skill is a text that a run loads when it needs it: the model sees name and description,
// and asks for the rest.
type Skill struct {
	Name        string `toml:"name" json:"name" rule:"need form=label"`
	Description string `toml:"description" json:"description" rule:"need form=line"` // one line
	File        string `toml:"file" json:"-"`                                        // read into Text
	Text        string `toml:"text" json:"text,omitempty"`                           // Markdown
}

// Hook runs at a point of a run. A stop hook is a gate: the run does not finish before
// it passes, or before it has said no MaxRounds times. Exactly one of Check, Python and
// File is given.
type Hook struct {
	Name      string   `toml:"name" json:"name" rule:"need form=label"`
	On        Point    `toml:"on" json:"on" rule:"need one=start|before_tool|after_tool|stop"`
	Check     string   `toml:"check" json:"check,omitempty" rule:"form=word"`              // name of a check of the harness
	With      Object   `toml:"with" json:"with,omitempty"`                                 // arguments of Check
	Python    string   `toml:"python" json:"python,omitempty"`                             // source that runs in the sandbox
	File      string   `toml:"file" json:"-"`                                              // read into Python
	Tools     []string `toml:"tools" json:"tools,omitempty" rule:"count=1..256"`           // that a tool hook is for; none: all
	MaxRounds int      `toml:"max_rounds" json:"max_rounds,omitempty" rule:"range=1..100"` // of a stop hook
}

// Point is when a hook runs.
type Point string

// The points.
const (
	OnStart      Point = "start"
	OnBeforeTool Point = "before_tool"
	OnAfterTool  Point = "after_tool"
	OnStop       Point = "stop"
)

// Workspace is the directory that a run works in. Patterns are those of path.Match for
// each part of a path, and ** for any number of parts.
type Workspace struct {
	Snapshots string   `toml:"snapshots" json:"snapshots,omitempty" rule:"one=none|end|turn"` // SnapshotNone, SnapshotEnd or SnapshotTurn
	Visible   []string `toml:"visible" json:"visible,omitempty" rule:"count=1..256"`          // files that the model's tools see; none: all
	Outputs   []string `toml:"outputs" json:"outputs,omitempty" rule:"count=1..256"`          // files that are the run's result
	MaxBytes  int      `toml:"max_bytes" json:"max_bytes,omitempty" rule:"range=1..2147483647"`
	MaxFiles  int      `toml:"max_files" json:"max_files,omitempty" rule:"range=1..1000000"`
}

// When the workspace is kept.
const (
	SnapshotNone = "none"
	SnapshotEnd  = "end"  // when the run closes
	SnapshotTurn = "turn" // after every model call that changed it, too
)

// Environment names what a run's tools and code find around them. Values are the
// operator's and stand in no contract.
type Environment struct {
	Names   []string `toml:"names" json:"names,omitempty" rule:"count=1..256 form=name"`     // variables
	Secrets []string `toml:"secrets" json:"secrets,omitempty" rule:"count=1..256 form=name"` // for {{secret:NAME}} in headers of http tools
}

// Sandbox is where code runs, and its limits.
type Sandbox struct {
	Backend     string `toml:"backend" json:"backend,omitempty" rule:"form=word"`
	MemoryMB    int    `toml:"memory_mb" json:"memory_mb,omitempty" rule:"range=1..1048576"`
	PIDs        int    `toml:"pids" json:"pids,omitempty" rule:"range=1..32768"`
	CPUSeconds  int    `toml:"cpu_seconds" json:"cpu_seconds,omitempty" rule:"range=1..604800"` // of a session
	DiskMB      int    `toml:"disk_mb" json:"disk_mb,omitempty" rule:"range=1..1048576"`
	WallMS      int    `toml:"wall_ms" json:"wall_ms,omitempty" rule:"range=1..604800000"`          // of one cell or command
	OutputBytes int    `toml:"output_bytes" json:"output_bytes,omitempty" rule:"range=1..67108864"` // of one cell that the model sees
}

// Tool finds a tool by the name that the model calls it by.
func (c *Contract) Tool(name string) (Tool, bool) {
	return find(c.Tools, func(t Tool) bool { return t.Name == name })
}

// Skill finds a skill by name.
func (c *Contract) Skill(name string) (Skill, bool) {
	return find(c.Skills, func(s Skill) bool { return s.Name == name })
}

// HooksOn lists the hooks of a point, in the order of the contract.
func (c *Contract) HooksOn(p Point) []Hook {
	return slices.DeleteFunc(slices.Clone(c.Hooks), func(h Hook) bool { return h.On != p })
}

func find[T any](all []T, is func(T) bool) (T, bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	var none T
	return none, false
}
