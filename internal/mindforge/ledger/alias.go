package ledger

import (
	"fmt"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// The names that move over releases.
const (
	Champion = "champion" // what is served
	Canary   = "canary"   // what a share of the conversations is served instead
	Previous = "previous" // what a rollback goes to: what was champion before, and was not taken back
)

// Alias is a name and the release that it stands on. Its moves are entries of the ledger.
type Alias struct {
	Owner   string     `json:"-"`
	Name    string     `json:"alias"`
	Version int64      `json:"version"`         // counts its moves
	Release ids.Digest `json:"release"`         // "": on none, and the contract's file is served
	Share   float64    `json:"share,omitempty"` // of a canary: the part of the conversations that it gets
	Rule    ids.Digest `json:"rule,omitempty"`  // of a canary: a kept text that says when it goes
	Reason  string     `json:"reason,omitempty"`
	By      string     `json:"by,omitempty"`
	Run     string     `json:"run,omitempty"`     // of the loop, if one moved it
	Because ids.Digest `json:"because,omitempty"` // the entry that decided it
	At      time.Time  `json:"at"`
	From    ids.Digest `json:"from,omitempty"` // where it was before
}

// Moved is the entry of a move.
type Moved struct {
	Alias   string     `json:"alias"`
	Version int64      `json:"version"`
	From    ids.Digest `json:"from,omitempty"`
	To      ids.Digest `json:"to,omitempty"`
	Share   float64    `json:"share,omitempty"`
	Rule    ids.Digest `json:"rule,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	By      string     `json:"by,omitempty"`
	Because ids.Digest `json:"because,omitempty"`
}

// Kind implements Body.
func (Moved) Kind() Kind { return KindAlias }

func (m Moved) check() error {
	switch m.Alias {
	case Champion, Canary, Previous:
	default:
		return errs.New(errs.InvalidRequest, "there is no alias "+errs.Clip(m.Alias), "use champion, canary or previous")
	}
	if m.Version < 1 || m.Share < 0 || m.Share > 1 {
		return errs.Newf(errs.InvalidRequest, "a move to version %d with a share of %g", m.Version, m.Share)
	}
	return first(digests(m.From, m.To, m.Because, m.Rule), words(maxTold, m.Reason), words(maxWords, m.By))
}

// lasting leaves out the entry that decided: its hash covers a time.
func (m Moved) lasting() Body { m.Because = ""; return m }

// draft is the entry of an alias's move. Its key has the version, so that one version is
// one move.
func (a Alias) draft() Draft {
	return Draft{Run: a.Run, Key: fmt.Sprintf("alias/%s/%d", a.Name, a.Version),
		Body: Moved{Alias: a.Name, Version: a.Version, From: a.From, To: a.Release, Share: a.Share, Rule: a.Rule, Reason: a.Reason, By: a.By, Because: a.Because}}
}

// What says what a kept text is.
type What string

// The kept texts.
const (
	ReleaseText   What = "release"   // canonical JSON of a contract.Release, by its hash
	ContractText  What = "contract"  // a contract whole in one file, by the contract's hash
	SignatureText What = "signature" // a DSSE envelope over a contract's text, by the contract's hash
	PlainText     What = "text"      // anything else, by the SHA-256 of its bytes: diffs, rules
)

// Text is kept beside the ledger, which names it by hash.
type Text struct {
	What What
	Name ids.Digest
	Text string
}

// Plain is a text that is named by its bytes.
func Plain(text string) Text { return Text{PlainText, ids.DigestOf([]byte(text)), text} }

func (t Text) check(most int) error {
	if len(t.Text) > most {
		return errs.Newf(errs.TooLarge, "a text of %d bytes is to be kept beside the ledger; %d are possible", len(t.Text), most)
	}
	if t.What == PlainText || t.What == ReleaseText {
		if ids.DigestOf([]byte(t.Text)) != t.Name {
			return errs.New(errs.ChecksumMismatch, "a text to be kept is not what its name says", "")
		}
	}
	return needed("a text", t.Name)
}
