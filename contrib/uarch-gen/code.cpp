// SPDX-License-Identifier: MIT
#include "code.h"

#include <cstdio>

#include "llvm/Object/ObjectFile.h"

bool for_all_code(const std::string &path, const std::function<void(const uint8_t *, size_t)> &each)
{
	auto file = llvm::object::ObjectFile::createObjectFile(path);

	if (!file) {
		fprintf(stderr, "cannot read the code of %s: %s\n", path.c_str(), toString(file.takeError()).c_str());
		return false;
	}
	for (const llvm::object::SectionRef &section : file->getBinary()->sections()) {
		if (!section.isText() || section.isVirtual())
			continue;
		auto contents = section.getContents();
		if (contents)
			each((const uint8_t *)contents->data(), contents->size());
		else
			llvm::consumeError(contents.takeError());
	}
	return true;
}
