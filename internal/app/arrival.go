package app

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// arrival is how long a request's body may take to come in. http.Server's own bound would go on to
// count while an answer streams.
const arrival = 60 * time.Second

// inTime bounds the arrival of bodies, whoever reads them.
func (f *front) inTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			control := http.NewResponseController(w)
			if err := control.SetReadDeadline(time.Now().Add(f.arrival)); err == nil { // else there is no connection, as in tests
				r.Body = &arriving{r.Body, control}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// arriving is a body that lifts the deadline once it is in.
type arriving struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements io.Reader.
func (a *arriving) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = a.control.SetReadDeadline(time.Time{}) // a connection that is gone tells the next one who uses it
	}
	return n, err
}
