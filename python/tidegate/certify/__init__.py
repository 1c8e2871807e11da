"""`tidegate certify`: a control under the conditions of RFC 9743, beside the standard controls."""
