module redis-replica

go 1.19

require omnilink v0.0.0

replace omnilink => ../../recorders/go
