// The device process: serves one application until that ends.
#ifndef HEDDLE_TRACEGEN_APPLICATION_SERVER_H_
#define HEDDLE_TRACEGEN_APPLICATION_SERVER_H_

namespace heddle::tracegen {

// Answers the requests that come over `socket` (runtime/protocol/messages.h), and completes the trace when the
// application has ended, however it did. Returns the exit status of the process. Under `heddle capture` the environment
// says where the trace goes (settings.h); what it tells afterwards is in the file NUMBER.outcome beside it.
int ServeApplication(int socket);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_SERVER_H_
