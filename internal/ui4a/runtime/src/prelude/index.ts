// The first statement of the runtime: it runs before anything else in its document, so
// also in a document that repeats the runtime's script. In this order: keep what the
// runtime needs, take away what reaches out, close the ways to new documents.
import "./natives";
import "./markup";
import "./removed";
import "./storage";
import "./elements";
import "./gesture";
import "./links";
import "./forms";
