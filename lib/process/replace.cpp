// SPDX-License-Identifier: MIT
#include "process/replace.hpp"

#include "process/exec.hpp"
#include "process/signals.hpp"

namespace jobthrottle {

ChildEnd replace_process(const Command& command) {
    const ExecImage image{command};
    SignalInbox::restore_for_child();
    const int error = image.exec();
    SignalInbox::take_again();
    return end_of_failed_exec(error);
}

}  // namespace jobthrottle
