package chatapi

import (
	"errors"
	"net/http"
	"time"

	"macaron/internal/errs"
	"macaron/internal/limits"
)

// arrival is how long a request body may take to come in.
const arrival = 60 * time.Second

// Body reads a JSON body of bounded size within a bounded time.
func Body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := limits.ContentType(r.Header.Get("Content-Type")); err != nil {
		return nil, err
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, errs.New(errs.InvalidRequest, "a compressed body is not read", "send it plain").In("content-encoding")
	}
	control := http.NewResponseController(w)
	deadline := func(t time.Time) error {
		if err := control.SetReadDeadline(t); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return errs.Wrap(errs.Canceled, err, "the connection is gone", "")
		}
		return nil
	}
	if err := deadline(time.Now().Add(arrival)); err != nil {
		return nil, err
	}
	body, err := limits.Body(r.Body, r.ContentLength)
	if err != nil {
		return nil, err
	}
	return body, deadline(time.Time{})
}
