package chatapi

import "net/http"

// Users tells for which user of its tenant a request acts whose body names one, and within
// which scope its conversations are found again. nil: nobody is known, and what a body names
// is a scope.
type Users func(r *http.Request, named string) (user, scope string)

// Acting is for a request with a body.
func (u Users) Acting(r *http.Request, named string) (user, scope string) {
	if u == nil {
		return "", named
	}
	return u(r, named)
}

// Of is the user of a request without a body.
func (u Users) Of(r *http.Request) string {
	user, _ := u.Acting(r, "")
	return user
}
