package responses

import (
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// A response is one step of a turn, and is named after both: resp_ and the turn's ULID,
// then _N for the N-th request that brought tool results. An item of its output has a
// prefix for its type, the same, and its index. Nothing else is stored for a name.

func responseID(turn string, step int) string {
	id := "resp_" + strings.TrimPrefix(turn, "trn_")
	if step > 0 {
		id += "_" + strconv.Itoa(step)
	}
	return id
}

// parseID gives the turn and step of a response.
func parseID(id string) (turn string, step int, err error) {
	rest, ok := strings.CutPrefix(id, "resp_")
	ulid, n, some := strings.Cut(rest, "_")
	if some {
		step, err = strconv.Atoi(n)
		ok = ok && err == nil && step > 0
	}
	turn = "trn_" + ulid
	if !ok || ids.Check(ids.Turn, turn) != nil || responseID(turn, step) != id {
		return "", 0, noResponse(id)
	}
	return turn, step, nil
}

func noResponse(id string) *errs.Error {
	return errs.New(errs.NotFound, "there is no response \""+errs.Clip(id)+"\"", "it may have been deleted, or not stored")
}

// prefixes of items by their type.
var prefixes = map[string]string{"reasoning": "rs", "message": "msg", "function_call": "fc", "function_call_output": "fco"}

func itemID(kind, response string, index int) string {
	return prefixes[kind] + strings.TrimPrefix(response, "resp") + "_" + strconv.Itoa(index)
}

// parseItem gives the response and index of an output item.
func parseItem(id string) (response string, index int, ok bool) {
	_, rest, some := strings.Cut(id, "_")
	at := strings.LastIndexByte(rest, '_')
	if !some || at < 0 {
		return "", 0, false
	}
	index, err := strconv.Atoi(rest[at+1:])
	return "resp_" + rest[:at], index, err == nil && index >= 0
}

// A conversation is a session under another prefix.

func conversationID(session string) string { return "conv_" + strings.TrimPrefix(session, "ses_") }

func parseConversation(field, id string) (session string, err error) {
	rest, ok := strings.CutPrefix(id, "conv_")
	session = "ses_" + rest
	if !ok || ids.Check(ids.Session, session) != nil {
		return "", noConversation(id).In(field)
	}
	return session, nil
}

func noConversation(id string) *errs.Error {
	return errs.New(errs.NotFound, "there is no conversation \""+errs.Clip(id)+"\"", "POST /v1/conversations begins one")
}
