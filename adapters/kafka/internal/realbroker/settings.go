package realbroker

import "fmt"

// settings are the broker's properties: one node that is broker and
// controller, and the short group timeouts that the tests need.
func settings(addr, controller, data string) []byte {
	return fmt.Appendf(nil, `process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://%[1]s,CONTROLLER://%[2]s
advertised.listeners=PLAINTEXT://%[1]s
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
controller.quorum.voters=1@%[2]s
log.dirs=%[3]s
auto.create.topics.enable=false
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
num.network.threads=2
num.io.threads=4
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=100
group.consumer.min.session.timeout.ms=100
group.consumer.session.timeout.ms=3000
group.consumer.min.heartbeat.interval.ms=50
group.consumer.heartbeat.interval.ms=50
`, addr, controller, data)
}
