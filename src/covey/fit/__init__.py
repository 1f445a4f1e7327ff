"""From a request to a release: check, pay, open the door, certify, finish. The one place that makes a curator."""
