package contract

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/errs"
)

var (
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	secretHole = regexp.MustCompile(`\{\{secret:([^}]*)\}\}`)
	parameter  = regexp.MustCompile(`\{\{[^}]*\}\}`)
)

func (c *Contract) checkServers() error {
	return unique("mcp", names(c.MCP, func(s Server) string { return s.Name }))
}

func (c *Contract) checkTools() error {
	if err := unique("tools", c.toolNames()); err != nil {
		return err
	}
	for i, t := range c.Tools {
		key := fmt.Sprintf("tools[%d]", i)
		if reserved(t.Name) {
			return bad(key+".name", fmt.Sprintf("%s.name is %q, a word that Python keeps for itself", key, t.Name))
		}
		for _, check := range []func(string, Tool) error{c.checkServer, checkParameters, c.checkHTTP} {
			if err := check(key, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkServer wants the server of an MCP tool listed.
func (c *Contract) checkServer(key string, t Tool) error {
	remote, ok := strings.CutPrefix(t.Use, UseMCP)
	server, _, _ := strings.Cut(remote, "/")
	if !ok || slices.Contains(c.MCP, Server{server}) {
		return nil
	}
	return bad(key+".use", fmt.Sprintf("%s.use names the MCP server %q, which no [[mcp]] lists", key, errs.Clip(server)))
}

func checkParameters(key string, t Tool) error {
	if t.Parameters != nil && t.Parameters["type"] != "object" {
		return bad(key+".parameters", key+`.parameters must be a JSON Schema with type = "object"`)
	}
	return nil
}

// checkHTTP wants an http tool whole: nothing else says what it is.
func (c *Contract) checkHTTP(key string, t Tool) error {
	h := t.HTTP
	if t.Use != UseHTTP {
		if h.URL != "" {
			return bad(key+".http", fmt.Sprintf("%s.http is for use = \"http\"", key))
		}
		return nil
	}
	if t.Description == "" || t.Parameters == nil || t.Effect == "" || h.URL == "" {
		return bad(key, key+" is an http tool and needs description, parameters, effect and http")
	}
	if u, err := url.Parse(parameter.ReplaceAllString(h.URL, "x")); err != nil || u.Fragment != "" {
		return bad(key+".http.url", fmt.Sprintf("%s.http.url is %q, which is no URL without a fragment", key, errs.Clip(h.URL)))
	}
	return c.checkHeaders(key+".http.headers", h.Headers)
}

func (c *Contract) checkHeaders(key string, headers map[string]string) error {
	for name, value := range headers {
		if !headerName.MatchString(name) || strings.ContainsAny(value, "\r\n\x00") {
			return bad(key, fmt.Sprintf("%s has %q, which is no header", key, errs.Clip(name)))
		}
		for _, m := range secretHole.FindAllStringSubmatch(value, -1) {
			if !slices.Contains(c.Environment.Secrets, m[1]) {
				return bad(key, fmt.Sprintf("%s.%s uses the secret %q, which environment.secrets does not list", key, name, errs.Clip(m[1])))
			}
		}
	}
	return nil
}
