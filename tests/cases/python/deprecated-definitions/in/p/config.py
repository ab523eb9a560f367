"""Gets more."""
import p.requests
