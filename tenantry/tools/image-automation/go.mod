// Nothing is built from this: it pins the definition of image updates.
module tenantry/tools/image-automation

go 1.26.0

require github.com/fluxcd/image-automation-controller v1.2.4
