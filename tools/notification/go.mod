// Nothing is built from this: it pins the definitions of alerts and their providers.
module tenantry/tools/notification

go 1.26.0

require github.com/fluxcd/notification-controller v1.9.3
