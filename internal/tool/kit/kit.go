// Package kit makes the tools that a contract declares: each finds what it uses (a builtin, an
// HTTP request, a tool of an MCP server, a promoted one) and takes what the contract says
// of it. A contract can make a tool stricter than it is, and not milder, except where
// nobody but the contract can know: HTTP requests and tools of MCP servers.
package kit

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/tool"
	"macaron/internal/tool/builtin"
)

// Parts is what tools are made of on this machine and for this run; what is nil is not
// there, and a contract that needs it is refused.
type Parts struct {
	Files   *builtin.Files
	Shell   *builtin.Shell
	Skip    func(use string) bool // tools that somebody else makes; nil: none
	Network builtin.Network
	Secret  func(ctx context.Context, name string) (string, error)
	MCP     func(ctx context.Context, server, name string) (tool.Tool, error)
	Shed    func(ctx context.Context, digest ids.Digest) (tool.Tool, error)
	World   map[string]tool.Tool // that the task offers: the contract's choice among them is made
}

// Build makes the contract's tools, in its order.
func Build(ctx context.Context, c *contract.Contract, p Parts) ([]tool.Tool, error) {
	builtins := p.builtins(c)
	var out []tool.Tool
	for _, t := range c.Tools {
		if p.Skip != nil && p.Skip(t.Use) || p.absent(t.Use) {
			continue
		}
		made, own, err := p.find(ctx, c, t, builtins)
		if err == nil {
			var d tool.Def
			d, err = Declared(made.Def(), t, own)
			made = named{made, d}
		}
		if err != nil {
			e := *errs.As(err)
			e.Message = "the tool " + t.Name + " cannot be had: " + e.Message
			return nil, &e
		}
		out = append(out, made)
	}
	return out, nil
}

// absent: a tool of a task world is there in the tasks that offer it, so that one contract
// is for the tasks of all worlds, and for people's.
func (p Parts) absent(use string) bool {
	name, ok := strings.CutPrefix(use, contract.UseWorld)
	return ok && p.World[name] == nil
}

// builtins are the ones that this run can have.
func (p Parts) builtins(c *contract.Contract) map[string]tool.Tool {
	all := map[string]tool.Tool{}
	if p.Files != nil {
		maps.Copy(all, p.Files.Tools())
	}
	if p.Shell != nil {
		maps.Copy(all, p.Shell.Tools())
	}
	maps.Copy(all, builtin.Web{Network: p.Network, Hosts: c.Policies.Hosts}.Tools())
	return all
}

// find gives what a tool uses, and whether its effect is known better than by the contract.
func (p Parts) find(ctx context.Context, c *contract.Contract, t contract.Tool, builtins map[string]tool.Tool) (tool.Tool, bool, error) {
	switch {
	case strings.HasPrefix(t.Use, contract.UseWorld):
		return p.World[strings.TrimPrefix(t.Use, contract.UseWorld)], true, nil
	case t.Use == contract.UseHTTP:
		made, err := p.http(c, t)
		return made, false, err
	case strings.HasPrefix(t.Use, contract.UseMCP):
		server, name, _ := strings.Cut(strings.TrimPrefix(t.Use, contract.UseMCP), "/")
		if p.MCP == nil {
			return nil, false, errs.New(errs.Unsupported, "no MCP servers are connected here", "")
		}
		made, err := p.MCP(ctx, server, name)
		return made, false, err
	case strings.HasPrefix(t.Use, contract.UseShed):
		digest, err := ids.ParseDigest(strings.TrimPrefix(t.Use, contract.UseShed))
		if err == nil && p.Shed == nil {
			err = errs.New(errs.Unsupported, "there is no shed of tools here", "")
		}
		if err != nil {
			return nil, true, err
		}
		made, err := p.Shed(ctx, digest)
		return made, true, err
	}
	name := strings.TrimPrefix(t.Use, contract.UseBuiltin)
	made, ok := builtins[name]
	if !ok {
		return nil, true, errs.New(errs.NotFound, "there is no builtin "+errs.Clip(name)+" here", "there are: "+strings.Join(slices.Sorted(maps.Keys(builtins)), ", "))
	}
	if strings.HasPrefix(name, "http.") && len(c.Policies.Hosts) == 0 {
		return nil, true, errs.New(errs.InvalidRequest, "it may call no host", "list hosts in policies.hosts")
	}
	return made, true, nil
}

func (p Parts) http(c *contract.Contract, t contract.Tool) (tool.Tool, error) {
	hosts := builtin.Hosts(t.HTTP.Hosts)
	if len(hosts) == 0 {
		host, _, _ := strings.Cut(t.HTTP.URL, "{{")
		u, err := url.Parse(host)
		if err != nil {
			return nil, errs.Wrap(errs.InvalidRequest, err, "its address is no URL", "")
		}
		hosts = builtin.Hosts{u.Scheme + "://" + u.Host}
	}
	return builtin.HTTP{
		Def:    tool.Def{Name: t.Name, Effect: tool.Irreversible},
		Method: t.HTTP.Method, URL: t.HTTP.URL, Header: t.HTTP.Headers,
		Web:    builtin.Web{Network: p.Network, Hosts: hosts, Within: c.Policies.Hosts},
		Secret: p.Secret,
	}.Tool()
}

// named is a tool under the definition of a contract.
type named struct {
	tool.Tool
	def tool.Def
}

// Def gives the definition.
func (n named) Def() tool.Def { return n.def }

// Declared lays what the contract says over what a tool says of itself. own: the tool's effect
// is known, and the contract's may be a stronger one only.
func Declared(d tool.Def, t contract.Tool, own bool) (tool.Def, error) {
	d.Name, d.Retries, d.TimeoutMS, d.MaxCalls = t.Name, t.Retries, t.TimeoutMS, t.MaxCalls
	if t.Description != "" {
		d.Description = t.Description
	}
	if t.Parameters != nil {
		d.Parameters = t.Parameters.JSON()
	}
	if t.Result != nil {
		d.Returns = t.Result.JSON()
	}
	d.Observe = d.Observe || t.Observe
	d.NoAI = append(slices.Clone(d.NoAI), t.NoAI...)
	if e := t.Effect; e != "" {
		if own && slices.Index(tool.Effects(), e) < slices.Index(tool.Effects(), d.Effect) {
			return d, errs.New(errs.InvalidRequest, fmt.Sprintf("its effect is %s, and the contract says %s", d.Effect, e), "a contract can declare a stronger effect only")
		}
		if d.Effect = e; !own {
			d.Approval = false // the default of a tool that nothing is known of
		}
	}
	d.Approval = d.Approval || t.Approval
	return d, d.Check()
}
