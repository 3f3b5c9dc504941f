// SPDX-License-Identifier: MIT
#pragma once

#include "cli/options.hpp"

// Each does what its options say and returns the exit code of the program; what is wrong is said.
namespace jobthrottle {

int execute(const ShowText&);
int execute(const RunOptions&);
int execute(const AdmitOptions&);
int execute(const RenewOptions&);
int execute(const ReleaseOptions&);
int execute(const SettleOptions&);
int execute(const PauseOptions&);
int execute(const ResumeOptions&);
int execute(const RegisterOptions&);
int execute(const UnregisterOptions&);
int execute(const InspectOptions&);
int execute(const KeysOptions&);
int execute(const ForgetOptions&);

}  // namespace jobthrottle
