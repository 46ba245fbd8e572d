package contract

import (
	"slices"

	"macaron/internal/tool"
)

// The forms of Tool.Use.
const (
	UseBuiltin = "builtin:" // and the name of a tool of this program
	UseMCP     = "mcp:"     // and SERVER/TOOL, the server being one of Contract.MCP
	UseShed    = "shed:"    // and the digest of a promoted tool
	UseWorld   = "world:"   // and the name of a tool of a task world; in runs whose task does not offer it there is none
	UseHTTP    = "http"     // Tool.HTTP says where
)

// Tool is one tool that a run may use. What is empty is what the tool says of itself;
// an http tool says nothing and needs description, parameters and effect.
type Tool struct {
	Name        string      `toml:"name" json:"name" rule:"need form=identifier"` // what the model calls it; a Python identifier
	Use         string      `toml:"use" json:"use" rule:"need form=use"`
	Description string      `toml:"description" json:"description,omitempty"`
	Parameters  Object      `toml:"parameters" json:"parameters,omitzero"` // JSON Schema of an object
	Result      Object      `toml:"result" json:"result,omitzero"`         // JSON Schema of the result
	Effect      tool.Effect `toml:"effect" json:"effect,omitempty" rule:"one=pure|read|write|irreversible"`
	Observe     bool        `toml:"observe" json:"observe,omitempty"`                            // the model sees the result before its next step
	Approval    bool        `toml:"approval" json:"approval,omitempty"`                          // a person says yes first
	NoAI        []string    `toml:"noai" json:"noai,omitempty" rule:"count=1..256 form=pointer"` // JSON pointers into the result that the model never sees
	Retries     int         `toml:"retries" json:"retries,omitempty" rule:"range=0..10"`
	TimeoutMS   int         `toml:"timeout_ms" json:"timeout_ms,omitempty" rule:"range=0..604800000"` // 0: agent.max_wall_ms alone bounds it
	MaxCalls    int         `toml:"max_calls" json:"max_calls,omitempty" rule:"range=0..1000000"`     // in a run; 0: agent.max_tool_calls alone bounds it
	HTTP        HTTP        `toml:"http" json:"http,omitzero"`
}

// HTTP is the request of an http tool. Placeholders {{NAME}} in the path and query of the
// URL are parameters, escaped; the others go as query (GET, DELETE) or JSON body.
type HTTP struct {
	Method  string            `toml:"method" json:"method,omitempty" rule:"need one=GET|POST|PUT|PATCH|DELETE"`
	URL     string            `toml:"url" json:"url,omitempty" rule:"need form=url"`
	Hosts   []string          `toml:"hosts" json:"hosts,omitempty" rule:"count=1..256"` // that it may reach; none: the URL's own
	Headers map[string]string `toml:"headers" json:"headers,omitempty"`                 // values may have {{secret:NAME}}
}

// Server is an MCP server that tools come from. How it is reached is the operator's
// setting and no part of a contract.
type Server struct {
	Name string `toml:"name" json:"name" rule:"need form=label"`
}

// Policies bound what any tool may do, whatever it says of itself.
type Policies struct {
	Effects []tool.Effect `toml:"effects" json:"effects,omitempty" rule:"count=1..4 one=pure|read|write|irreversible"` // allowed ones
	Approve []tool.Effect `toml:"approve" json:"approve,omitempty" rule:"count=1..4 one=pure|read|write|irreversible"` // those that a person says yes to first
	Hosts   []string      `toml:"hosts" json:"hosts,omitempty" rule:"count=1..256"`                                    // that the http tools may reach; none: as each tool says
}

// Allows reports whether tools of an effect may be called.
func (p Policies) Allows(e tool.Effect) bool { return slices.Contains(p.Effects, e) }

// Asks reports whether calls of an effect need a person's yes.
func (p Policies) Asks(e tool.Effect) bool { return slices.Contains(p.Approve, e) }
