package errs

import "net/http"

// edges maps each code once: to its HTTP status and to the process exit code.
var edges = map[Code]struct{ status, exit int }{
	InvalidRequest:      {http.StatusBadRequest, 2},
	Unauthenticated:     {http.StatusUnauthorized, 3},
	Forbidden:           {http.StatusForbidden, 3},
	NotFound:            {http.StatusNotFound, 4},
	Gone:                {http.StatusGone, 4},
	ModelNotFound:       {http.StatusNotFound, 4},
	AdapterNotFound:     {http.StatusNotFound, 4},
	OrphanToolTurn:      {http.StatusBadRequest, 2},
	ContextExceeded:     {http.StatusBadRequest, 2},
	TooLarge:            {http.StatusRequestEntityTooLarge, 2},
	Unsupported:         {http.StatusBadRequest, 5},
	Overloaded:          {http.StatusTooManyRequests, 6},
	RateLimited:         {http.StatusTooManyRequests, 6},
	BudgetSpent:         {http.StatusPaymentRequired, 6},
	UpstreamUnavailable: {http.StatusBadGateway, 6},
	ModelLoading:        {http.StatusServiceUnavailable, 6},
	UpstreamFailed:      {http.StatusBadGateway, 6},
	FormatInvalid:       {http.StatusUnprocessableEntity, 7},
	ChecksumMismatch:    {http.StatusUnprocessableEntity, 7},
	SourceUnreachable:   {http.StatusBadGateway, 8},
	AddressInUse:        {http.StatusInternalServerError, 9},
	HomeLocked:          {http.StatusInternalServerError, 9},
	StorageFull:         {http.StatusInsufficientStorage, 10},
	StorageFailed:       {http.StatusInternalServerError, 10},
	Canceled:            {499, 130},
	Internal:            {http.StatusInternalServerError, 1},
}

// Status is the HTTP status of a code.
func (c Code) Status() int { return edges[c].status }

// Exit is the exit code of the command line for a code.
func (c Code) Exit() int { return edges[c].exit }

// Codes lists the closed set, in no order.
func Codes() []Code {
	all := make([]Code, 0, len(edges))
	for c := range edges {
		all = append(all, c)
	}
	return all
}
